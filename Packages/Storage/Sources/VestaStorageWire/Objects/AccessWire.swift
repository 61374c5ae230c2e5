public import VestaBytes
public import VestaStorageBackend

/// The forms in which Google's JSON says who has access to buckets and objects.
///
/// Access of users is decided by rules, and Google's API is for owners: buckets are as Google's with uniform
/// bucket-level access, which have no access lists.
public enum AccessWire {
  /// The access of a bucket's owners, as a policy.
  ///
  /// - Parameters:
  ///   - bucket: The name of the bucket.
  ///   - project: The project, whose owners they are.
  public static func policy(of bucket: String, project: String) -> JSONObject {
    [
      "kind": "storage#policy", "resourceId": .string("projects/_/buckets/\(bucket)"), "version": 1, "etag": "CAE=",
      "bindings": [
        [
          "role": "roles/storage.admin",
          "members": [.string("projectOwner:\(project)"), .string("projectEditor:\(project)")],
        ]
      ],
    ]
  }

  /// The permissions of those asked for that the caller has.
  public static func permissions(_ names: [String]) -> JSONObject {
    ["kind": "storage#testIamPermissionsResponse", "permissions": .array(names.map(JSONValue.string))]
  }

  /// The access lists of an object that every caller reads, as on a server for development.
  public static func publicList(of object: StorageObject, project: String) -> JSONObject {
    let entries = [("project-owners-\(project)", "OWNER"), ("allUsers", "READER")]
    return [
      "kind": "storage#objectAccessControls",
      "items": .array(entries.map { .object(entry(of: object, entity: $0.0, role: $0.1)) }),
    ]
  }

  /// An entry of the access list of an object.
  public static func entry(of object: StorageObject, entity: String, role: String) -> JSONObject {
    let place = "\(object.name.bucket)/\(object.name.name)"
    return [
      "kind": "storage#objectAccessControl", "id": .string("\(place)/\(object.generation)/\(entity)"),
      "object": .string(object.name.name), "bucket": .string(object.name.bucket),
      "generation": .string("\(object.generation)"), "entity": .string(entity), "role": .string(role),
      "etag": .string(ObjectWire.etag(of: object)),
    ]
  }
}
