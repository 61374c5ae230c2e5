// Strings are compared by their bytes as the ground floor does it (`UTF8Order`), and every call takes a `CallContext`
// and throws an error with a `ServiceCode`; who imports this seam sees those too.
@_exported public import VestaBytes
@_exported public import VestaServiceInterop
