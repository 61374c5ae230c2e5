import VestaCore
import VestaCrypto
import VestaCryptoInterop

@Sendable
func tokensChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(options: VestaOptions(), libraries: [CryptoLibrary.self])
  let crypto = try app.container.require((any CryptoProvider).self)

  let key = try await crypto.generateSigningKey(.es256)
  let token = try JWT.sign(["iss": "tour", "sub": "ada", "exp": 2_000_000_000], with: key)
  let verifier = JWTVerifier(issuers: ["tour"], audiences: nil)
  let claims = try verifier.verify(token, at: 1_900_000_000, keys: [key.verificationKey]).claims
  try guide.show("a signed token says who it is for: \(claims["sub"]?.string ?? "nobody")", claims["sub"] == "ada")

  let isRefused = { (text: String, time: Int64) in
    (try? verifier.verify(text, at: time, keys: [key.verificationKey])) == nil
  }
  let parts = token.split(separator: ".")
  let forged =
    "\(parts[0]).\(Base64.url.encode(Array(#"{"iss":"tour","sub":"eve","exp":2000000000}"#.utf8))).\(parts[2])"
  try guide.show(
    "a forged one is refused, and an expired one", isRefused(forged, 1_900_000_000) && isRefused(token, 2_000_000_001))

  let hash = try await crypto.hashPassword("correct horse")
  let isRight = try await crypto.verifyPassword("correct horse", against: hash)
  let isWrong = try await crypto.verifyPassword("battery staple", against: hash)
  try guide.show("a password is known by its scrypt hash only", isRight && !isWrong)
  await app.delete()
}
