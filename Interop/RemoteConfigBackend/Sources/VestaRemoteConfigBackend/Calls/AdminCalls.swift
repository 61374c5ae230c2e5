/// A template and its ETag.
public struct StoredTemplate: Sendable, Hashable {
  /// The template.
  public var template: ConfigTemplate
  /// Names this template and no other; a publish that names it fails when another one is current.
  public var etag: String

  /// A template and its ETag.
  public init(template: ConfigTemplate, etag: String) {
    self.template = template
    self.etag = etag
  }
}

/// The request to publish a template.
public struct PublishRequest: Sendable, Hashable {
  /// Which template may be replaced.
  public enum Precondition: Sendable, Hashable {
    /// The one with this ETag.
    case etag(String)
    /// Any.
    case any
  }

  /// The namespace.
  public var namespace: String
  /// The template; of its version, only the description is read.
  public var template: ConfigTemplate
  /// Which template may be replaced.
  public var precondition: Precondition
  /// Whether to check the template only.
  public var isValidateOnly: Bool
  /// The publisher.
  public var user: ConfigVersion.User?
  /// The origin of the update.
  public var origin: ConfigVersion.Origin

  /// A request.
  public init(
    namespace: String = "firebase", template: ConfigTemplate, precondition: Precondition, isValidateOnly: Bool = false,
    user: ConfigVersion.User? = nil, origin: ConfigVersion.Origin = .restAPI
  ) {
    self.namespace = namespace
    self.template = template
    self.precondition = precondition
    self.isValidateOnly = isValidateOnly
    self.user = user
    self.origin = origin
  }
}

/// The request for a list of versions.
public struct ListVersionsRequest: Sendable, Hashable {
  /// The namespace.
  public var namespace: String
  /// The most versions of one page; from 1 to 300.
  public var pageSize: Int
  /// The start of the page: the `nextPageToken` of the last one.
  public var pageToken: String?
  /// The newest version to list.
  public var endVersion: Int64?
  /// The earliest time of publishing, in microseconds since 1970.
  public var startTime: Int64?
  /// The time of publishing before which versions are listed, in microseconds since 1970.
  public var endTime: Int64?

  /// A request.
  public init(
    namespace: String = "firebase", pageSize: Int = 300, pageToken: String? = nil, endVersion: Int64? = nil,
    startTime: Int64? = nil, endTime: Int64? = nil
  ) {
    self.namespace = namespace
    self.pageSize = pageSize
    self.pageToken = pageToken
    self.endVersion = endVersion
    self.startTime = startTime
    self.endTime = endTime
  }
}

/// One page of versions.
public struct VersionPage: Sendable, Hashable {
  /// The versions, the newest first.
  public var versions: [ConfigVersion]
  /// The start of the next page; `nil` after the last one.
  public var nextPageToken: String?

  /// A page.
  public init(versions: [ConfigVersion], nextPageToken: String? = nil) {
    self.versions = versions
    self.nextPageToken = nextPageToken
  }
}

/// The format of a file with default values.
public enum DefaultsFormat: String, Sendable, Hashable, CaseIterable {
  /// A JSON object.
  case json = "JSON"
  /// The XML that Android apps read.
  case xml = "XML"
  /// The property list that Apple apps read.
  case plist = "PLIST"
}
