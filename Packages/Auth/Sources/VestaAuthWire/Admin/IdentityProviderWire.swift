public import VestaAuthBackend
public import VestaBytes

/// Identity providers as `oauthIdpConfigs`, `inboundSamlConfigs` and `defaultSupportedIdpConfigs` have them.
public enum IdentityProviderWire {
  private typealias Table = [(member: IdentityProvider.Member, json: JSONMember<IdentityProvider>)]

  private static let openIDConnect: Table = [
    (.displayName, .text("displayName", \.displayName)), (.isEnabled, .flag("enabled", \.isEnabled)),
    (.clientID, .text("clientId", \.clientID)), (.clientSecret, .text("clientSecret", \.clientSecret)),
    (.issuer, .text("issuer", \.issuer)), (.responseIDToken, .response(.idToken)), (.responseCode, .response(.code)),
    (.responseToken, .response(.token)),
  ]

  private static let saml: Table = [
    (.displayName, .text("displayName", \.displayName)), (.isEnabled, .flag("enabled", \.isEnabled)),
    (.samlEntityID, .text("idpConfig.idpEntityId", \.saml.entityID)),
    (.samlSignInURL, .text("idpConfig.ssoUrl", \.saml.signInURL)),
    (.samlCertificates, .certificates("idpConfig.idpCertificates")),
    (.samlSignsRequests, .flag("idpConfig.signRequest", \.saml.signsRequests)),
    (.samlServiceEntityID, .text("spConfig.spEntityId", \.saml.serviceEntityID)),
    (.samlCallbackURL, .text("spConfig.callbackUri", \.saml.callbackURL)),
  ]

  private static let standard: Table = [
    (.isEnabled, .flag("enabled", \.isEnabled)), (.clientID, .text("clientId", \.clientID)),
    (.clientSecret, .text("clientSecret", \.clientSecret)),
  ]

  private static let apple: Table = [
    (.appleKey, .appleKey("appleSignInConfig.codeFlowConfig")),
    (.appleBundleIDs, .texts("appleSignInConfig.bundleIds", \.apple.bundleIDs)),
  ]

  /// The members of a provider, by its id.
  private static func table(_ id: String) -> Table {
    switch IdentityProvider.Kind(providerID: id) {
    case .standard where id == "apple.com": standard + apple
    case .standard: standard
    case .openIDConnect: openIDConnect
    case .saml: saml
    }
  }

  /// The collection that names begin with: `projects/P`, or `projects/P/tenants/T`.
  private static func parent(_ project: String, _ tenant: String?) -> String {
    "projects/\(project)" + (tenant.map { "/tenants/\($0)" } ?? "")
  }

  /// A provider as JSON.
  ///
  /// - Parameters:
  ///   - provider: The provider.
  ///   - project: The project, which is part of the name.
  ///   - tenant: The tenant, which is part of the name; `nil` for the project itself.
  public static func json(of provider: IdentityProvider, project: String, tenant: String?) -> JSONObject {
    let name = "\(parent(project, tenant))/\(provider.kind.rawValue)/\(provider.id)"
    var object: JSONObject = ["name": .string(name)]
    for member in JSONMembers.json(of: provider, table(provider.id).map(\.json)).members {
      object[member.name] = member.value
    }
    return object
  }

  /// Reads a provider.
  ///
  /// - Parameters:
  ///   - object: The members; the ones that the kind does not have are ignored.
  ///   - id: The id, where the object's name does not say it.
  public static func provider(_ object: JSONObject, id: String? = nil) throws(BytesError) -> IdentityProvider {
    let name = object["name"]?.string.flatMap {
      $0.parts(at: "/").last.map(String.init)
    }
    var provider = IdentityProvider(id: id ?? name ?? "")
    try JSONMembers.merge(object, into: &provider, table(provider.id).map(\.json))
    return provider
  }

  /// Reads a change of some properties.
  ///
  /// - Parameters:
  ///   - object: The members.
  ///   - id: The provider.
  ///   - mask: The paths that count, each with everything below it: a path that the object lacks is reset. `nil` for
  ///     what the object has.
  public static func change(
    _ object: JSONObject, id: String, mask: [String]?
  ) throws(BytesError) -> IdentityProviderChange {
    var provider = IdentityProvider(id: id)
    let table = table(provider.id)
    let changed = try JSONMembers.merge(object, into: &provider, mask: mask, table.map(\.json))
    return IdentityProviderChange(provider, members: Set(table.filter { changed.contains($0.json.path) }.map(\.member)))
  }

  /// The paths of the properties of a change that the kind of the provider has.
  public static func mask(of change: IdentityProviderChange) -> [String] {
    table(change.provider.id).filter { change.members.contains($0.member) }.map(\.json.path)
  }

  /// A page of providers as JSON.
  public static func json(
    of page: ListProvidersResponse, kind: IdentityProvider.Kind, project: String, tenant: String?
  ) -> JSONObject {
    var object = JSONObject()
    if !page.providers.isEmpty {
      object[kind.rawValue] = .array(
        page.providers.map { .object(json(of: $0, project: project, tenant: tenant)) })
    }
    object["nextPageToken"] = page.nextPageToken.map { .string($0) }
    return object
  }

  /// Reads a page of providers.
  public static func page(
    _ object: JSONObject, kind: IdentityProvider.Kind
  ) throws(BytesError) -> ListProvidersResponse {
    var providers: [IdentityProvider] = []
    for entry in object[kind.rawValue]?.array ?? [] {
      guard let entry = entry.object else { throw BytesError(.malformed, "\(kind.rawValue) has no objects") }
      providers.append(try provider(entry))
    }
    return ListProvidersResponse(providers: providers, nextPageToken: object["nextPageToken"]?.string)
  }
}

extension JSONMember<IdentityProvider> {
  /// A part of the response: a flag, which is absent unless it is set.
  fileprivate static func response(_ type: IdentityProvider.ResponseType) -> JSONMember {
    JSONMember(path: "responseType.\(type.rawValue)") {
      $0.responseTypes.contains(type) ? true : nil
    } write: { provider, json in
      guard case .bool(let isWanted) = json else { return false }
      if isWanted { provider.responseTypes.insert(type) } else { provider.responseTypes.remove(type) }
      return true
    } clear: {
      $0.responseTypes.remove(type)
    }
  }

  /// Certificates: a list of objects with one member.
  fileprivate static func certificates(_ path: String) -> JSONMember {
    JSONMember(path: path) {
      .array($0.saml.certificates.map { ["x509Certificate": .string($0)] })
    } write: { provider, json in
      guard let entries = json.array else { return false }
      let texts = entries.compactMap { $0.object?["x509Certificate"]?.string }
      guard texts.count == entries.count else { return false }
      provider.saml.certificates = texts
      return true
    } clear: {
      $0.saml.certificates = []
    }
  }

  /// The key of Apple's code flow.
  fileprivate static func appleKey(_ path: String) -> JSONMember {
    JSONMember(path: path) {
      let apple = $0.apple
      guard apple.teamID != nil || apple.keyID != nil || apple.privateKey != nil else { return nil }
      var object = JSONObject()
      object["teamId"] = apple.teamID.map { .string($0) }
      object["keyId"] = apple.keyID.map { .string($0) }
      object["privateKey"] = apple.privateKey.map { .string($0) }
      return .object(object)
    } write: { provider, json in
      guard let object = json.object else { return false }
      provider.apple.teamID = object["teamId"]?.string
      provider.apple.keyID = object["keyId"]?.string
      provider.apple.privateKey = object["privateKey"]?.string
      return true
    } clear: {
      ($0.apple.teamID, $0.apple.keyID, $0.apple.privateKey) = (nil, nil, nil)
    }
  }
}
