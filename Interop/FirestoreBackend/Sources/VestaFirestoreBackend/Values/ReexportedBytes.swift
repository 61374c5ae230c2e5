// The order of strings by their UTF-8 bytes lives on the ground floor; who imports this seam sees it.
@_exported public import VestaBytes
