import VestaBytes
import VestaRemoteConfigBackend

/// Which version of a namespace is current.
struct CurrentRecord: FieldRecord, Equatable {
  var version: Int64 = 0

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &version)
  }
}

/// The template of one version.
struct TemplateRecord: FieldRecord, Equatable {
  var json: [UInt8] = []

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &json)
  }
}

/// The record of one version.
struct VersionRecord: FieldRecord, Equatable {
  var number: Int64 = 0
  var time: Int64 = 0
  var origin = ConfigVersion.Origin.unspecified
  var type = ConfigVersion.UpdateType.unspecified
  var email: String?
  var name: String?
  var imageURL: String?
  var hasUser = false
  var description: String?
  var rollbackSource: Int64?

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &number)
    try visitor.field(2, &time)
    try visitor.field(3, &origin)
    try visitor.field(4, &type)
    try visitor.field(5, &hasUser)
    try visitor.field(6, &email)
    try visitor.field(7, &name)
    try visitor.field(8, &imageURL)
    try visitor.field(9, &description)
    try visitor.field(10, &rollbackSource)
  }

  init() {}

  init(number: Int64, time: Int64, _ version: ConfigVersion) {
    self.number = number
    self.time = time
    origin = version.updateOrigin ?? .unspecified
    type = version.updateType ?? .unspecified
    hasUser = version.updateUser != nil
    email = version.updateUser?.email
    name = version.updateUser?.name
    imageURL = version.updateUser?.imageURL
    description = version.description
    rollbackSource = version.rollbackSource
  }

  var version: ConfigVersion {
    ConfigVersion(
      versionNumber: number, updateTime: time, updateOrigin: origin, updateType: type,
      updateUser: hasUser ? ConfigVersion.User(email: email, name: name, imageURL: imageURL) : nil,
      description: description, rollbackSource: rollbackSource)
  }
}
