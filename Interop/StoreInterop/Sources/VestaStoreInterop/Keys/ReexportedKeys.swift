// The encoding of keys lives on the ground floor; modules that import this seam see it too.
@_exported public import VestaBytes
