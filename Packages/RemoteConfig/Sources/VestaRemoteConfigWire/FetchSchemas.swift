import VestaBytes
import VestaRemoteConfigBackend

/// The statement of a request for values.
///
/// Names in snake case, which the clients of Apple and of browsers send, are read like names in camel case.
enum FetchCallSchema: ProtobufSchema {
  static var empty: ConfigFetchCall {
    ConfigFetchCall(FetchConfigRequest(namespace: "", instance: ConfigInstance()))
  }

  static func visit(_ call: inout ConfigFetchCall, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(2, "appInstanceIdToken", &call.installationToken, LooseText.self)
    try visit(&call.request.instance, &visitor)
  }

  private static func visit(
    _ instance: inout ConfigInstance, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "appInstanceId", &instance.installationID, LooseText.self)
    try visitor.field(3, "appId", &instance.appID, LooseText.self)
    try visitor.field(4, "countryCode", &instance.countryCode, LooseText.self)
    try visitor.field(5, "languageCode", &instance.languageCode, LooseText.self)
    try visitor.field(6, "platformVersion", &instance.platformVersion, LooseText.self)
    try visitor.field(7, "timeZone", &instance.timeZone, LooseText.self)
    try visitor.field(8, "packageName", &instance.packageName, LooseText.self)
    try visitor.field(9, "appVersion", &instance.appVersion, LooseText.self)
    try visitor.field(10, "appBuild", &instance.appBuild, LooseText.self)
    try visitor.field(11, "sdkVersion", &instance.sdkVersion, LooseText.self)
    try visitor.field(12, "firstOpenTime", &instance.firstOpenTime, LooseTime.self)
    try visitor.field(13, "analyticsUserProperties", &instance.userProperties, JSONTexts.self)
    try visitor.field(14, "customSignals", &instance.customSignals, JSONTexts.self)
  }
}

/// The members of a response with values; its ETag travels in a header.
struct FetchResponse {
  var entries: [String: String] = [:]
  /// The state in the response; `nil` without one.
  var state: FetchConfigResponse.State?
  var templateVersion: Int64 = 0
  var rollouts: [ConfigRollout] = []
}

/// The statement of a response with values.
enum FetchResponseSchema: ProtobufSchema {
  static var empty: FetchResponse { FetchResponse() }

  static func visit(_ response: inout FetchResponse, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "entries", &response.entries, JSONTexts.self)
    try visitor.optional(2, "state", &response.state, StateKind.self)
    // A string: Apple's clients ignore a number.
    try visitor.field(3, "templateVersion", &response.templateVersion, ProtobufInt64.self)
    try visitor.repeated(4, "rolloutMetadata", &response.rollouts, ProtobufMessage<RolloutSchema>.self)
  }
}

/// The statement of a rollout.
private enum RolloutSchema: ProtobufSchema {
  static var empty: ConfigRollout { ConfigRollout(rolloutID: "", variantID: "", affectedParameterKeys: []) }

  static func visit(_ rollout: inout ConfigRollout, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "rolloutId", &rollout.rolloutID, ProtobufString.self)
    try visitor.field(2, "variantId", &rollout.variantID, ProtobufString.self)
    try visitor.repeated(3, "affectedParameterKeys", &rollout.affectedParameterKeys, ProtobufString.self)
  }
}

/// The states of a response by their names.
private enum StateKind: JSONKind {
  static func write(
    _ value: FetchConfigResponse.State, to writer: inout ProtobufJSONWriter
  ) throws(BytesError) {
    writer.write(string: value.rawValue)
  }

  static func read(
    _ json: JSONValue, _ reader: ProtobufJSONReader
  ) throws(BytesError) -> FetchConfigResponse.State {
    guard let state = json.string.flatMap(FetchConfigResponse.State.init) else {
      throw reader.malformed("this is no state of values")
    }
    return state
  }
}
