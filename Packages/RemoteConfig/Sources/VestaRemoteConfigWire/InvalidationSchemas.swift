import VestaBytes
import VestaRemoteConfigBackend

/// The statement of a request to be notified of newer templates.
enum StreamCallSchema: ProtobufSchema {
  static var empty: ConfigStreamCall {
    ConfigStreamCall(InvalidationsRequest(namespace: "", lastKnownVersion: 0), project: "")
  }

  static func visit(_ call: inout ConfigStreamCall, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "project", &call.project, ProtobufString.self)
    try visitor.field(2, "namespace", &call.request.namespace, ProtobufString.self)
    try visitor.field(3, "lastKnownVersionNumber", &call.request.lastKnownVersion, LooseVersion.self)
    try visitor.field(4, "appId", &call.appID, LooseText.self)
    try visitor.field(5, "sdkVersion", &call.sdkVersion, LooseText.self)
    try visitor.field(6, "appInstanceId", &call.installationID, LooseText.self)
  }
}

/// The members of a message of the stream; one without a version and with the feature on says nothing.
struct Invalidation {
  var version: Int64?
  var isDisabled = false
  var interval: Int64?
}

/// The statement of a message of the stream.
enum InvalidationSchema: ProtobufSchema {
  static var empty: Invalidation { Invalidation() }

  static func visit(_ message: inout Invalidation, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "latestTemplateVersionNumber", &message.version, ProtobufInt64.self)
    // Its presence disables the stream for Apple's clients, whatever its value.
    try visitor.field(2, "featureDisabled", &message.isDisabled, ProtobufBool.self)
    try visitor.optional(3, "retryIntervalSeconds", &message.interval, ProtobufInt64.self)
  }
}
