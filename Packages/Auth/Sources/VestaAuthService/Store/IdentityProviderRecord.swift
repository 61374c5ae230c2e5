import VestaAuthBackend
import VestaBytes

/// An identity provider as it is kept; its id is in the key.
struct IdentityProviderRecord: FieldRecord, Equatable {
  var provider = IdentityProvider(id: "")

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    var types = provider.responseTypes.map(\.rawValue).sorted()
    try visitor.field(1, &provider.displayName)
    try visitor.field(2, &provider.isEnabled)
    try visitor.field(3, &provider.clientID)
    try visitor.field(4, &provider.clientSecret)
    try visitor.field(5, &provider.issuer)
    try visitor.field(6, &types)
    try visitor.field(7, &provider.saml.entityID)
    try visitor.field(8, &provider.saml.signInURL)
    try visitor.field(9, &provider.saml.certificates)
    try visitor.field(10, &provider.saml.signsRequests)
    try visitor.field(11, &provider.saml.serviceEntityID)
    try visitor.field(12, &provider.saml.callbackURL)
    try visitor.field(13, &provider.apple.teamID)
    try visitor.field(14, &provider.apple.keyID)
    try visitor.field(15, &provider.apple.privateKey)
    try visitor.field(16, &provider.apple.bundleIDs)
    provider.responseTypes = Set(types.compactMap(IdentityProvider.ResponseType.init))
  }

  /// The provider with its id.
  func provider(_ id: String) -> IdentityProvider {
    var provider = provider
    provider.id = id
    return provider
  }

  /// A record of a provider.
  init(_ provider: IdentityProvider) {
    self.provider = provider
    self.provider.id = ""
  }

  init() {}
}
