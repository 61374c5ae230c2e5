import VestaBytes
import VestaEngineInterop
import VestaEventsInterop
import VestaStorageBackend
import VestaStoreInterop

/// The events of objects: the records of a call's changes, and their form for functions.
enum ObjectEvents {
  /// The events of the engine, whose outbox is in the store of the metadata.
  static let offer = EventOffer(
    service: "storage.googleapis.com", keys: Keys.outbox,
    types: [.objectFinalized, .objectDeleted, .objectMetadataUpdated],
    data: { record in
      EventData(
        data(of: try ObjectRecord(fieldBytes: record.payload), ObjectName(bucket: record.scope, name: record.path)))
    })

  /// Records a change of an object.
  static func record(
    _ type: EventType, _ name: ObjectName, _ object: ObjectRecord, _ outbox: EventOutbox, _ cause: EventCause,
    in transaction: any StoreTransaction
  ) async throws {
    guard let interest = outbox.interest(in: cause) else { return }
    let functions = interest.functions(for: type, scope: name.bucket, path: name.name)
    guard !functions.isEmpty else { return }
    var object = object
    // A token is enough to read the object.
    object.downloadTokens = []
    let draft = EventDraft(
      type, scope: name.bucket, path: name.name, functions: functions, actor: cause.actor,
      payload: try object.fieldBytes())
    try await outbox.append([draft], in: transaction)
  }

  private static func data(of record: ObjectRecord, _ name: ObjectName) -> JSONObject {
    var data: JSONObject = [
      "bucket": .string(name.bucket), "name": .string(name.name), "generation": .string(String(record.generation)),
      "metageneration": .string(String(record.metageneration)), "size": .string(String(record.size)),
      "timeCreated": .string(RFC3339.text(microseconds: record.timeCreated)),
      "updated": .string(RFC3339.text(microseconds: record.updated)),
    ]
    let metadata = record.metadata.metadata
    data["md5Hash"] = record.md5.map { .string(Base64.standard.encode($0)) }
    data["contentType"] = metadata.contentType.map { .string($0) }
    data["cacheControl"] = metadata.cacheControl.map { .string($0) }
    data["contentDisposition"] = metadata.contentDisposition.map { .string($0) }
    data["contentEncoding"] = metadata.contentEncoding.map { .string($0) }
    data["contentLanguage"] = metadata.contentLanguage.map { .string($0) }
    var custom = JSONObject()
    for (name, value) in metadata.custom.sorted(by: { $0.key < $1.key }) { custom[name] = .string(value) }
    if !custom.isEmpty { data["metadata"] = .object(custom) }
    return data
  }
}
