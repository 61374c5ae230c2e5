public import VestaBytes
public import VestaStorageBackend

/// Pages of listings as JSON, and back.
public enum ListWire {
  /// The JSON of a page: in Firebase's form the names alone, in Google's the whole objects.
  ///
  /// - Parameters:
  ///   - page: The page.
  ///   - form: The form.
  ///   - origin: The origin at which clients reach the API, for the links of Google's form.
  public static func json(of page: ListPage, form: ObjectWire.Form, origin: String = "") -> [UInt8] {
    var json = JSONObject()
    if form == .google {
      json["kind"] = "storage#objects"
      json["nextPageToken"] = page.nextPageToken.map(JSONValue.string)
      if !page.prefixes.isEmpty { json["prefixes"] = .array(page.prefixes.map(JSONValue.string)) }
      json["items"] = .array(page.items.map { .object(ObjectWire.object(of: $0, form: .google, origin: origin)) })
    } else {
      json["prefixes"] = .array(page.prefixes.map(JSONValue.string))
      json["items"] = .array(
        page.items.map { ["name": .string($0.name.name), "bucket": .string($0.name.bucket)] })
      json["nextPageToken"] = page.nextPageToken.map(JSONValue.string)
    }
    return (try? json.json()) ?? []
  }

  /// Reads a page.
  ///
  /// An item of which only the name is known has the generation zero and no content.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func page(json: [UInt8], limits: JSONLimits = JSONLimits()) throws(BytesError) -> ListPage {
    let object = try JSONObject(json: json, limits: limits)
    var items: [StorageObject] = []
    for element in object["items"]?.array ?? [] {
      guard case .object(let item) = element else { throw BytesError(.malformed, "an item is no object") }
      items.append(item["generation"] == nil ? try named(item) : try ObjectWire.object(item))
    }
    let token = object["nextPageToken"]?.string
    return ListPage(
      items: items, prefixes: (object["prefixes"]?.array ?? []).compactMap(\.string),
      nextPageToken: token?.isEmpty == true ? nil : token)
  }

  /// An object of which only the name is known.
  private static func named(_ item: JSONObject) throws(BytesError) -> StorageObject {
    guard let name = item["name"]?.string, let bucket = item["bucket"]?.string else {
      throw BytesError(.malformed, "an item has no name")
    }
    return StorageObject(
      name: ObjectName(bucket: bucket, name: name), generation: 0, size: 0, crc32c: 0, md5: nil, timeCreated: 0,
      updated: 0, metadata: ObjectMetadata())
  }

  /// The JSON of a bucket, which exists by its name.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - created: The time of its creation, in microseconds since 1970.
  public static func bucket(_ name: String, created: Int64) -> JSONObject {
    let time = JSONValue.string(RFC3339.text(microseconds: created, digits: 3))
    return [
      "kind": "storage#bucket", "id": .string(name), "name": .string(name),
      "selfLink": .string("/v1/b/\(PercentEncoding.unreserved.encode(name))"), "projectNumber": "000000000000",
      "metageneration": "1", "location": "US", "locationType": "multi-region", "storageClass": "STANDARD",
      "etag": "====", "timeCreated": time, "updated": time,
    ]
  }

  /// The JSON of all buckets.
  public static func buckets(_ buckets: [JSONObject]) -> JSONObject {
    ["kind": "storage#buckets", "items": .array(buckets.map(JSONValue.object))]
  }
}
