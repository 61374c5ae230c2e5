/// What goes along with every call: whose call it is and where it comes from.
///
/// Nothing in it proves anything; tokens in the requests do that.
public struct IdentityCallContext: Sendable, Hashable {
  /// The project's API key, where the caller has one.
  public var apiKey: String?

  /// The tenant that the call is about; `nil` for the project itself.
  ///
  /// Each tenant has users of its own. A token in the request that is of another tenant fails with
  /// `TENANT_ID_MISMATCH`; where a call is made without a tenant, a token's tenant counts.
  public var tenantID: String?

  /// The language for messages to the user, such as "de".
  public var locale: String?

  /// The caller's App Check token, or its placeholder.
  public var appCheckToken: String?

  /// Where the call comes from, such as an IP address; limits on guessing count by it.
  ///
  /// `nil` within the process.
  public var clientAddress: String?

  /// A context.
  ///
  /// - Parameters:
  ///   - apiKey: The project's API key.
  ///   - tenantID: The tenant that the call is about.
  ///   - locale: The language for messages to the user.
  ///   - appCheckToken: The caller's App Check token.
  ///   - clientAddress: Where the call comes from.
  public init(
    apiKey: String? = nil,
    tenantID: String? = nil,
    locale: String? = nil,
    appCheckToken: String? = nil,
    clientAddress: String? = nil
  ) {
    self.apiKey = apiKey
    self.tenantID = tenantID
    self.locale = locale
    self.appCheckToken = appCheckToken
    self.clientAddress = clientAddress
  }
}
