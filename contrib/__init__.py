"""Apps that a lab can leave out (`ARQLAB_WITHOUT`); no other app imports them."""
