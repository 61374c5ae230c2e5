import VestaCryptoInterop
import VestaStoreInterop

/// A refresh token: 64 bytes that cannot be guessed, and the session that it belongs to.
///
/// The account is in it so that a session is one row next to the other sessions of its account. It is no secret, and
/// it alone does not suffice to find a session.
struct SessionToken: Sendable, Equatable {
  private static let secretLength = 86
  /// More than the longest tenant and user id make; nothing longer is looked at.
  private static let longest = 1024

  let tenant: TenantKey
  let localID: String

  /// The token as the client receives it.
  let text: String

  /// A token for a session of an account.
  ///
  /// - Parameters:
  ///   - secret: 86 letters of base64url.
  ///   - tenant: The tenant as keys have it.
  ///   - localID: The account.
  init(secret: String, tenant: TenantKey, localID: String) {
    self.tenant = tenant
    self.localID = localID
    var owner = KeyEncoder()
    owner.append(string: tenant.rawValue)
    owner.append(string: localID)
    text = secret + "." + Base64.url.encode(owner.bytes)
  }

  /// A presented token; `nil` when this service cannot have made it.
  init?(_ text: String) {
    guard text.utf8.count <= Self.longest, let point = text.utf8.firstIndex(of: UInt8(ascii: ".")),
      text.utf8.distance(from: text.startIndex, to: point) == Self.secretLength,
      let owner = try? Base64.url.decode(String(text[text.index(after: point)...]))
    else { return nil }
    var key = KeyDecoder(owner)
    guard let tenant = try? key.string(), let localID = try? key.string(), key.isAtEnd else { return nil }
    (self.tenant, self.localID, self.text) = (TenantKey(tenant), localID, text)
  }
}
