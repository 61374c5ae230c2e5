// Mirrors, and with them `dump`, show no passwords, codes, tokens or keys: each type that holds one says here what it
// shows instead. `AuthDataResult` and others show these types in turn.

extension Auth: CustomReflectable {
  /// A mirror with the name of the app alone.
  public var customMirror: Mirror { Mirror(self, children: ["app": appName]) }
}

extension User: CustomReflectable {
  /// A mirror with the user's id alone.
  public var customMirror: Mirror { Mirror(self, children: ["uid": uid]) }
}

extension PasswordCredential: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}

extension EmailLinkCredential: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}

extension OAuthCredential: CustomReflectable {
  /// A mirror with the provider alone.
  public var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}

extension PhoneAuthCredential: CustomReflectable {
  /// A mirror with the provider alone.
  public var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}

extension PhoneMultiFactorAssertion: CustomReflectable {
  /// A mirror with the kind of the factor alone.
  public var customMirror: Mirror { Mirror(self, children: ["factorID": factorID]) }
}

extension TOTPMultiFactorAssertion: CustomReflectable {
  /// A mirror with the kind of the factor alone.
  public var customMirror: Mirror { Mirror(self, children: ["factorID": factorID]) }
}

extension TOTPSecret: CustomReflectable {
  /// A mirror without the secret.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension MultiFactorSession: CustomReflectable {
  /// A mirror without the credential of the sign-in.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension MultiFactorResolver: CustomReflectable {
  /// A mirror with the factors to choose from alone.
  public var customMirror: Mirror { Mirror(self, children: ["hints": hints]) }
}

extension ActionCodeURL: CustomReflectable {
  /// A mirror without the code.
  public var customMirror: Mirror { Mirror(self, children: ["operation": operation]) }
}

extension AuthTokenResult: CustomReflectable {
  /// A mirror without the token and its claims.
  public var customMirror: Mirror {
    Mirror(self, children: ["expirationDate": expirationDate, "signInProvider": signInProvider])
  }
}

extension FileCredentialStore: CustomReflectable {
  /// A mirror with the directory alone.
  public var customMirror: Mirror { Mirror(self, children: ["directory": "\(directory)"]) }
}

extension MemoryCredentialStore: CustomReflectable {
  /// A mirror without what is kept.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension TokenSet: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: ["expiration": expiration]) }
}
