/// A tenant: a separate set of users within the project.
public struct Tenant: AuthMessage {
  /// Names the tenant.
  public var tenantID: String

  /// The name.
  public var displayName: String?

  /// The allowed ways to sign in.
  public var signIn: SignInSettings

  /// Creates a value with these properties.
  public init(tenantID: String, displayName: String? = nil, signIn: SignInSettings = SignInSettings()) {
    self.tenantID = tenantID
    self.displayName = displayName
    self.signIn = signIn
  }
}

/// A tenant to make.
public struct CreateTenantRequest: AuthMessage {
  /// The id, for a tenant of an export; `nil` for one that the service chooses.
  public var tenantID: String?

  /// The name; an id that the service chooses begins with it.
  public var displayName: String?

  /// The allowed ways to sign in.
  public var signIn: SignInSettings

  /// Creates a value with these properties.
  public init(
    tenantID: String? = nil, displayName: String? = nil, signIn: SignInSettings = SignInSettings()
  ) {
    self.tenantID = tenantID
    self.displayName = displayName
    self.signIn = signIn
  }
}

extension Tenant {
  /// One property of a tenant, for a change of some of them.
  public enum Member: Sendable, Hashable, CaseIterable {
    /// ``Tenant/displayName``.
    case displayName
    /// A member of ``Tenant/signIn``.
    case signIn(SignInSettings.Member)

    /// Every property that can be changed.
    public static var allCases: [Member] { [.displayName] + SignInSettings.Member.allCases.map(Member.signIn) }
  }

  /// Takes some properties from another tenant.
  ///
  /// - Parameters:
  ///   - members: The properties to take.
  ///   - other: Has their values.
  public mutating func take(_ members: Set<Member>, from other: Tenant) {
    for member in members {
      switch member {
      case .displayName: displayName = other.displayName
      case .signIn(let setting): signIn.take(setting, from: other.signIn)
      }
    }
  }
}

/// A change of some properties of a tenant; all others stay as they are when the change is made.
public struct UpdateTenantRequest: AuthMessage {
  /// Names the tenant, and has the new values.
  public var tenant: Tenant

  /// The properties that are changed.
  public var members: Set<Tenant.Member>

  /// Creates a value with these properties.
  public init(_ tenant: Tenant, members: Set<Tenant.Member>) {
    self.tenant = tenant
    self.members = members
  }

  /// A change of the name or of all ways to sign in; a property that is `nil` stays.
  ///
  /// - Parameters:
  ///   - tenantID: The tenant.
  ///   - displayName: The new name.
  ///   - signIn: The new ways to sign in.
  public init(tenantID: String, displayName: String? = nil, signIn: SignInSettings? = nil) {
    self.init(
      Tenant(tenantID: tenantID, displayName: displayName, signIn: signIn ?? SignInSettings()),
      members: Set(
        Tenant.Member.allCases.filter { $0 == .displayName ? displayName != nil : signIn != nil }))
  }
}

/// A page of the tenants.
public struct ListTenantsRequest: AuthMessage {
  /// How many tenants, 1 to 1000.
  public var pageSize: Int

  /// The token of the page before.
  public var pageToken: String?

  /// Creates a value with these properties.
  public init(pageSize: Int = 20, pageToken: String? = nil) {
    self.pageSize = pageSize
    self.pageToken = pageToken
  }
}

/// A page of the tenants.
public struct ListTenantsResponse: AuthMessage {
  /// The tenants by id.
  public var tenants: [Tenant]

  /// Gives the next page; `nil` after the last one.
  public var nextPageToken: String?

  /// Creates a value with these properties.
  public init(tenants: [Tenant], nextPageToken: String? = nil) {
    self.tenants = tenants
    self.nextPageToken = nextPageToken
  }
}
