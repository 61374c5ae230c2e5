// The encoding of keys lives on the ground floor; who imports this seam goes on seeing it.
@_exported public import VestaBytes
