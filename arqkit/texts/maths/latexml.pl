# Convert LaTeX to MathML (Presentation, or Content if the second argument is 1) with LaTeXML: reads
# a JSON string per line, and writes a JSON string or null per line.
#
# The packages are loaded once. Every formula then runs in its own child process, so that its
# definitions and failures do not affect the next one, and a formula that never ends is killed.
use strict;
use warnings;
use JSON::PP;
use LaTeXML::Core;
use LaTeXML::Post;
use LaTeXML::Post::MathML::Content;
use LaTeXML::Post::MathML::Presentation;
use LaTeXML::Common::Error;

my ($seconds, $is_content) = @ARGV;
my $json = JSON::PP->new->ascii->allow_nonref;
$| = 1;

LaTeXML::Common::Error::SetVerbosity(-3);
my $core = LaTeXML::Core->new(
  preload => ['LaTeX.pool', 'article.cls', 'amsmath.sty', 'amssymb.sty', 'amsfonts.sty'],
  searchpaths => [], verbosity => -3, includecomments => 0);
$core->withState(sub { $core->initializeState('TeX.pool', @{ $$core{preload} }); });

while (my $line = <STDIN>) {
  pipe(my $reader, my $writer) or die "Cannot create a pipe: $!";
  my $child = fork();
  die "Cannot create a process: $!" unless defined $child;
  if (!$child) {
    close $reader;
    alarm $seconds;
    print $writer $json->encode(eval { converted($json->decode($line)) });
    close $writer;
    require POSIX;
    POSIX::_exit(0); }
  close $writer;
  my $answer = do { local $/ = undef; <$reader> };
  waitpid($child, 0);
  print $answer ? $answer : 'null', "\n"; }

sub converted {
  my ($latex) = @_;
  my $digested = $core->digestFile("literal:\\begin{document}$latex\\end{document}", noinitialize => 1);
  my $document = LaTeXML::Post::Document->new($core->convertDocument($digested), nocache => 1);
  my ($result) = LaTeXML::Post->new(verbosity => -3)->ProcessChain(
    $document, $is_content ? LaTeXML::Post::MathML::Content->new() : LaTeXML::Post::MathML::Presentation->new());
  my @found = $result->findnodes('//m:math');
  return undef if @found != 1;
  my $mathml = $found[0]->toString;
  $mathml =~ s/<(\/?)m:/<$1/g;
  return $mathml; }
