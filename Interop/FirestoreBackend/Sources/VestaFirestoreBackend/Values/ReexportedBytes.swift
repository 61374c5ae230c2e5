// The order of strings by their bytes lives on the ground floor; who imports this seam goes on seeing it.
@_exported public import VestaBytes
