public import VestaAuthBackend
public import VestaBytes

/// How a project hashes passwords, as `signIn.hashConfig` of its settings.
///
/// The members are the same as in `accounts:batchCreate`, where the algorithm is named `hashAlgorithm`.
public enum HashConfigWire {
  /// The member as JSON.
  public static func json(of hash: ImportHash) throws(BytesError) -> JSONObject {
    var parts = BatchCreateRequestWire.Parts()
    ImportHashWire.set(hash, in: &parts)
    var object = JSONObject()
    object["algorithm"] = parts.algorithm.map { .string($0) }
    parts.algorithm = nil
    for member in try JSONObject(json: try BatchCreateRequestWire.Schema.json(of: parts)).members {
      object[member.name] = member.value
    }
    return object
  }

  /// Reads the member.
  ///
  /// - Throws: `BytesError` with `.malformed` for an algorithm that is not known, and for costs out of range.
  public static func hash(_ object: JSONObject) throws(BytesError) -> ImportHash? {
    var object = object
    object["hashAlgorithm"] = object["algorithm"]
    return try ImportHashWire.hash(
      try BatchCreateRequestWire.Schema.message(json: .object(object), ignoresUnknownNames: true))
  }

  /// Adds the member to the settings of a project.
  public static func add(_ hash: ImportHash, to config: inout JSONObject) throws(BytesError) {
    var signIn = config["signIn"]?.object ?? JSONObject()
    signIn["hashConfig"] = .object(try json(of: hash))
    config["signIn"] = .object(signIn)
  }

  /// Reads the member of the settings of a project; `nil` where it is absent.
  public static func hash(ofConfig config: JSONObject) throws(BytesError) -> ImportHash? {
    guard let object = config["signIn"]?.object?["hashConfig"]?.object else { return nil }
    return try hash(object)
  }
}
