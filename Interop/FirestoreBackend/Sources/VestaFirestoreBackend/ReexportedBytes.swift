// Strings are compared by their bytes as the ground floor does it (`UTF8Order`); who imports this seam sees that too.
@_exported public import VestaBytes
