"""A lab as a folder: lab.toml and the files it names."""
