"""The bundled sample: an invented story, told in the shapes that real clients write."""
