import VestaBytes
import VestaFirestoreBackend
import VestaRules
import VestaServiceInterop
import VestaStorageBackend

extension CallContext {
  /// The variable `request.auth`: null except for a user whose token was verified.
  var auth: RulesValue {
    guard let user else { return .null }
    return .map(RulesMap(UserFields(user)))
  }
}

extension CallContext {
  /// The variable `auth` of a database's rules, which says by which provider the user has signed in.
  var databaseAuth: RulesValue {
    guard let user else { return .null }
    return .map(RulesMap(UserFields(user, saysProvider: true)))
  }

  /// Whether `request.auth` is not null.
  var isUser: Bool { if case .user = caller { true } else { false } }
}

extension RulesMap {
  init(_ object: JSONObject) {
    self.init(object.members.map { Member($0.name, RulesValue($0.value)) })
  }

  init(_ fields: MapValue) { self.init(FirestoreFields(fields)) }
}

extension RulesValue {
  init(_ json: JSONValue) {
    switch json {
    case .null: self = .null
    case .bool(let bool): self = .bool(bool)
    case .integer(let number): self = .int(number)
    case .number(let number): self = .float(number)
    case .string(let text): self = .string(text)
    case .array(let list): self = .list(list.map(RulesValue.init))
    case .object(let object): self = .map(RulesMap(object))
    }
  }

  init(_ value: consuming VestaFirestoreBackend.Value) {
    switch consume value {
    case .null: self = .null
    case .boolean(let bool): self = .bool(bool)
    case .integer(let number): self = .int(number)
    case .double(let number): self = .float(number)
    case .timestamp(let time): self = .timestamp(RulesTimestamp(time))
    case .string(let text): self = .string(text)
    case .bytes(let bytes): self = .bytes(bytes)
    case .reference(let name): self = .path(RulesPath(resource: name))
    case .geoPoint(let point): self = .latlng(RulesLatLng(latitude: point.latitude, longitude: point.longitude))
    case .array(let list): self = .list(list.map(RulesValue.init))
    case .map(let map): self = .map(RulesMap(map))
    }
  }

  /// The variable `resource` of a document; null for none.
  init(_ document: Document?, at path: RulesPath) {
    self = document.map { .map(RulesMap(DocumentFields($0, at: path))) } ?? .null
  }
}

extension RulesTimestamp {
  init(_ time: Timestamp) { self.init(seconds: time.seconds, nanoseconds: Int64(time.nanos)) }

  init(microseconds: Int64) {
    let seconds = microseconds / 1_000_000
    self.init(seconds: seconds, nanoseconds: (microseconds - seconds * 1_000_000) * 1_000)
  }
}

extension RulesPath {
  /// The resource name of a path of a document in a project; `nil` where it is none.
  func resourceName(in project: String) -> String? {
    let segments = segments
    guard segments.count > 3, segments.count % 2 == 1, segments[0] == "databases", segments[2] == "documents" else {
      return nil
    }
    return (["projects", project] + segments).joined(separator: "/")
  }
}

extension RulesStorageObject {
  /// An object of the service; one that is uploaded has neither generations nor times.
  init(_ object: StorageObject) {
    self.init(object.name.name, bucket: object.name.bucket, size: object.size)
    contentType = object.metadata.contentType
    contentDisposition = object.metadata.contentDisposition
    contentEncoding = object.metadata.contentEncoding
    cacheControl = object.metadata.cacheControl
    contentLanguage = object.metadata.contentLanguage
    metadata = object.metadata.custom
    md5Hash = object.md5.map { Base64.standard.encode($0) }
    crc32c = Base64.standard.encode((0..<4).map { UInt8(truncatingIfNeeded: object.crc32c >> (24 - 8 * $0)) })
    guard object.generation > 0 else { return }
    etag = "\(object.generation)-\(object.metageneration)"
    generation = object.generation
    metageneration = object.metageneration
    timeCreated = RulesTimestamp(microseconds: object.timeCreated)
    updated = RulesTimestamp(microseconds: object.updated)
  }
}
