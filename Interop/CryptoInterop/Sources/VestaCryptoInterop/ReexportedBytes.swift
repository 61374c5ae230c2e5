// Hex, Base64, CRC32C and JSON live on the ground floor; who imports this seam goes on seeing them.
@_exported public import VestaBytes

/// A value in the header or the claims of a token.
public typealias JWTValue = JSONValue

/// The header or the claims of a token.
public typealias JWTObject = JSONObject
