import VestaAuthBackend
import VestaBytes
import VestaCryptoInterop

/// Looks at the answers of authenticators; whether the challenge is a valid one is up to the caller.
struct PasskeyCheck {
  /// An answer that is right for one of these challenges.
  struct Answer {
    var challenges: [String]
    var signCount: Int64
    /// The key of a new passkey, as COSE writes it.
    var publicKey: [UInt8] = []
  }

  let party: PasskeyRelyingParty
  let crypto: any CryptoProvider

  /// The answer of an authenticator that has made a passkey.
  ///
  /// Authenticators may prove which model they are. This service does not ask for it, and does not look at it.
  func registration(_ registration: FinalizePasskeyEnrollmentRequest.Registration) throws -> Answer {
    try refusing { try checked(registration) }
  }

  /// The answer of an authenticator that has signed; whether its count has grown is up to the caller.
  func assertion(
    _ assertion: FinalizePasskeySignInRequest.Assertion, of localID: String, _ passkey: UserRecord.Passkey
  ) throws -> Answer {
    try refusing { try checked(assertion, of: localID, passkey) }
  }

  private func checked(_ registration: FinalizePasskeyEnrollmentRequest.Registration) throws -> Answer {
    let client = try clientData(registration.clientData, .create)
    guard let attestation = registration.attestationObject else { throw refusal("there is no key") }
    var reader = CBORReader(attestation[...])
    guard let bytes = try reader.value()[.text("authData")]?.bytes else { throw refusal("there is no key") }
    let data = try authenticatorData(bytes)
    guard let credential = data.credential, credential.id == PasskeyID.bytes(of: registration.credentialID) else {
      throw refusal("the key is that of another passkey")
    }
    _ = try crypto.verificationKey(jsonWebKey: try PasskeyKey(credential.publicKey).key)
    return Answer(challenges: client.sent, signCount: data.signCount, publicKey: credential.publicKey)
  }

  private func checked(
    _ assertion: FinalizePasskeySignInRequest.Assertion, of localID: String, _ passkey: UserRecord.Passkey
  ) throws -> Answer {
    let client = try clientData(assertion.clientData, .get)
    guard let publicKey = passkey.publicKey, let signature = assertion.signature,
      let bytes = assertion.authenticatorData, let seen = assertion.clientData
    else { throw refusal("there is no signature") }
    let data = try authenticatorData(bytes)
    let handles = PasskeyID.handles(of: localID)
    if let handle = assertion.userHandle, !handle.isEmpty, !handles.contains(handle) {
      throw refusal("the passkey is for another user")
    }
    let key = try PasskeyKey(publicKey)
    let message = bytes + SHA256.digest(seen)
    let verifier = try crypto.verificationKey(jsonWebKey: key.key)
    guard verifier.isValidSignature(key.signature(signature), for: message) else {
      throw refusal("the signature is wrong")
    }
    return Answer(challenges: client.sent, signCount: data.signCount)
  }

  private func clientData(
    _ json: [UInt8]?, _ ceremony: PasskeyClientData.Ceremony
  ) throws -> PasskeyClientData {
    guard let json else { throw refusal("there is no client data") }
    let data = try PasskeyClientData(json)
    guard data.ceremony == ceremony else { throw refusal("it is for something else") }
    guard party.accepts(data.origin) else { throw refusal("it is from another place") }
    guard !data.isCrossOrigin else { throw refusal("it is from a page within a page of another origin") }
    return data
  }

  private func authenticatorData(_ bytes: [UInt8]) throws -> AuthenticatorData {
    let data = try AuthenticatorData(bytes)
    guard data.relyingPartyHash == SHA256.digest(Array(party.id.utf8)) else {
      throw refusal("it is for another service")
    }
    guard data.isUserPresent else { throw refusal("nobody was there") }
    return data
  }

  /// Refuses bytes that cannot be read, and numbers that are no key.
  private func refusing(_ body: () throws -> Answer) throws -> Answer {
    do {
      return try body()
    } catch let error as BytesError {
      throw refusal("\(error.message)")
    } catch let error as CryptoError where error.code != .libraryFailure {
      throw refusal("the key is not valid")
    }
  }

  private func refusal(_ reason: String) -> AuthServiceError { .refusedAnswer(reason) }
}

extension AuthServiceError {
  static func refusedAnswer(_ reason: String) -> AuthServiceError {
    AuthServiceError(.invalidAuthenticatorResponse, "The answer of the authenticator is not accepted: \(reason).")
  }
}

/// The ids of passkeys, which clients write in different alphabets of Base64.
enum PasskeyID {
  /// The longest id of WebAuthn has 1,023 bytes.
  static let longest = 1_364

  static func bytes(of id: String) -> [UInt8]? {
    (try? Base64.url.decode(id)) ?? (try? Base64.standard.decode(id)) ?? (try? Base64.unpadded.decode(id))
  }

  /// The account as authenticators keep it, in at most 64 bytes: the user id, or the SHA-256 of a longer one.
  static func handle(of localID: String) -> [UInt8] {
    let id = Array(localID.utf8)
    return id.count <= 64 ? id : SHA256.digest(id)
  }

  /// The forms in which an authenticator may return the account: see `PasskeyClientData.sent`.
  static func handles(of localID: String) -> [[UInt8]] {
    let handle = handle(of: localID)
    return [handle, Array(Base64.url.encode(handle).utf8)]
  }

  /// The form by which ids are compared.
  static func canonical(_ id: String) -> String { bytes(of: id).map(Base64.url.encode) ?? id }
}
