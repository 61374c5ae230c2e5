import Testing
import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

@testable import VestaStorageWire

@Suite struct ObjectWireTests {
  private let cat = StorageObject(
    name: ObjectName(bucket: "b", name: "a/cat.jpg"), generation: 7, size: 5, crc32c: 0xE306_9283,
    md5: [UInt8](repeating: 0, count: 16), timeCreated: 1_700_000_000_123_456, updated: 1_700_000_000_123_456,
    metadata: ObjectMetadata(contentType: "image/jpeg", custom: ["k": "v"]), downloadTokens: ["t", "u"])

  @Test func `objects have the members of both APIs`() throws {
    #expect(
      text(ObjectWire.json(of: cat, form: .firebase(hasDecimalChecksum: false)))
        == #"{"name":"a/cat.jpg","bucket":"b","generation":"7","metageneration":"1","contentType":"image/jpeg","timeCreated":"2023-11-14T22:13:20.123Z","updated":"2023-11-14T22:13:20.123Z","storageClass":"STANDARD","size":"5","md5Hash":"AAAAAAAAAAAAAAAAAAAAAA==","crc32c":"4waSgw==","etag":"\#(ObjectWire.etag(of: cat))","contentEncoding":"identity","metadata":{"k":"v"},"downloadTokens":"t,u"}"#
    )
    let google = ObjectWire.object(of: cat, form: .google)
    #expect(google["id"] == "b/a/cat.jpg/7" && google["contentEncoding"] == nil && google["downloadTokens"] == nil)
    #expect(google["metadata"] == ["firebaseStorageDownloadTokens": "t,u", "k": "v"])
    #expect(google["mediaLink"] == "/download/storage/v1/b/b/o/a%2Fcat.jpg?generation=7&alt=media")
    #expect(ObjectWire.object(of: cat, form: .firebase(hasDecimalChecksum: true))["crc32c"] == "3808858755")
    #expect(ObjectWire.hash(of: cat) == "crc32c=4waSgw==,md5=AAAAAAAAAAAAAAAAAAAAAA==")
    #expect(
      ObjectWire.digest(hash: "crc32c=4waSgw==, md5=AAAAAAAAAAAAAAAAAAAAAA==")
        == ContentDigest(crc32c: cat.crc32c, md5: cat.md5))
    #expect(ObjectWire.digest(hash: "md5=x,crc32c=") == ContentDigest())
  }

  @Test func `random objects, metadata and changes survive a round trip`() throws {
    var random = SplitMix(seed: 1)
    let forms: [ObjectWire.Form] = [
      .google, .firebase(hasDecimalChecksum: false), .firebase(hasDecimalChecksum: true),
    ]
    for round in 0..<10_000 {
      var object = random.object()
      let form = random.pick(forms)
      // Firebase's form has no custom times.
      if form != .google { object.metadata.customTime = nil }
      let json = ObjectWire.json(of: object, form: form)
      if try ObjectWire.object(json: json) != object { Issue.record("round \(round): \(text(json))"); return }
      let body = UploadBody(
        name: random.maybe(), metadata: random.metadata(), digest: random.digest(),
        downloadTokens: random.pick([[], ["a", "b"]]))
      let bytes = MetadataWire.json(of: body)
      if try MetadataWire.upload(json: bytes) != body { Issue.record("round \(round): \(text(bytes))"); return }
      let change = random.change()
      let patch = MetadataWire.json(of: change)
      if try MetadataWire.change(json: patch) != change { Issue.record("round \(round): \(text(patch))"); return }
    }
  }

  @Test func `numbers and booleans among custom values are strings, and unknown members are ignored`() throws {
    let body = #"{"name":"n","fullPath":"x","metadata":{"a":1,"b":true,"c":null,"d":1.5},"new":[{}]}"#
    let upload = try MetadataWire.upload(json: utf8(body))
    #expect(upload.metadata.custom == ["a": "1", "b": "true", "d": "1.5"] && upload.name == "n")
    #expect(try MetadataWire.upload(json: []) == UploadBody())
    for body in [
      #"{"metadata":[]}"#, #"{"customTime":"soon"}"#, #"{"contentType":1}"#, #"{"md5Hash":"x"}"#,
      #"{"metadata":{"a":{}}}"#, "[]",
    ] {
      #expect(throws: BytesError.self) { _ = try MetadataWire.upload(json: utf8(body)) }
    }
  }

  @Test func `metadata of an upload and its change have the members of Google's API`() throws {
    var body = UploadBody(name: "n", downloadTokens: ["t", "u"])
    body.metadata.contentType = "text/plain"
    body.metadata.customTime = 1_000_000
    body.metadata.custom = ["b": "2", "a": "1"]
    body.digest = ContentDigest(crc32c: 1, md5: [UInt8](repeating: 0, count: 16))
    #expect(
      text(MetadataWire.json(of: body))
        == #"{"name":"n","contentType":"text/plain","customTime":"1970-01-01T00:00:01Z","md5Hash":"AAAAAAAAAAAAAAAAAAAAAA==","crc32c":"AAAAAQ==","metadata":{"a":"1","b":"2","firebaseStorageDownloadTokens":"t,u"}}"#
    )
    #expect(try MetadataWire.upload(json: utf8(#"{"crc32c":"1","contentType":null}"#)).digest.crc32c == 1)
    #expect(text(MetadataWire.json(of: UploadBody())) == "{}" && text(MetadataWire.json(of: MetadataChange())) == "{}")
    var change = MetadataChange()
    (change.contentType, change.cacheControl, change.customTime) = (.set(""), .remove, .remove)
    change.custom = .set(["b": "2", "a": nil])
    let json = #"{"contentType":"","cacheControl":null,"customTime":null,"metadata":{"a":null,"b":"2"}}"#
    #expect(text(MetadataWire.json(of: change)) == json)
    #expect(try MetadataWire.change(json: utf8(json)) == change)
    #expect(try MetadataWire.change(json: utf8(#"{"metadata":null,"new":1}"#)).custom == .remove)
    for wrong in [#"{"contentType":1}"#, #"{"customTime":"x"}"#, #"{"metadata":[]}"#, #"{"metadata":{"a":[]}}"#, "[]"] {
      #expect(throws: BytesError.self) { try MetadataWire.change(json: utf8(wrong)) }
      #expect(throws: BytesError.self) { try MetadataWire.upload(json: utf8(wrong)) }
    }
  }

  @Test func `pages survive a round trip, with names alone in Firebase's form`() throws {
    let page = ListPage(items: [cat], prefixes: ["a/"], nextPageToken: "é")
    #expect(try ListWire.page(json: ListWire.json(of: page, form: .google)).prefixes == ["a/"])
    let names = ListWire.json(of: page, form: .firebase(hasDecimalChecksum: false))
    #expect(
      text(names) == #"{"prefixes":["a/"],"items":[{"name":"a/cat.jpg","bucket":"b"}],"nextPageToken":"é"}"#)
    #expect(try ListWire.page(json: names).items.map(\.name) == [cat.name])
    #expect(try ListWire.page(json: utf8("{}")) == ListPage())
    #expect(throws: BytesError.self) { _ = try ListWire.page(json: utf8(#"{"items":[1]}"#)) }
    var random = SplitMix(seed: 2)
    for _ in 0..<2_000 {
      let page = ListPage(items: [random.object()], prefixes: [random.text()], nextPageToken: random.maybe())
      #expect(try ListWire.page(json: ListWire.json(of: page, form: .google)) == page)
    }
    #expect(ListWire.buckets([ListWire.bucket("b", created: 0)])["items"]?.array?.count == 1)
  }

  @Test func `hostile bodies are a message or an error`() {
    var random = SplitMix(seed: 3)
    var refused = 0
    for round in 0..<20_000 {
      do {
        switch round % 4 {
        case 0:
          _ = try ObjectWire.object(json: random.damaged(ObjectWire.json(of: random.object(), form: .google)))
        case 1: _ = try MetadataWire.change(json: random.damaged(MetadataWire.json(of: random.change())))
        case 2:
          let body = UploadBody(metadata: random.metadata(), digest: random.digest())
          _ = try MetadataWire.upload(json: random.damaged(MetadataWire.json(of: body)))
        default:
          let page = ListPage(items: [random.object()])
          _ = try ListWire.page(
            json: random.damaged(ListWire.json(of: page, form: .firebase(hasDecimalChecksum: false))))
        }
      } catch {
        refused += 1
      }
    }
    #expect(refused > 4_000 && refused < 19_800, "\(refused)")
  }

  @Test func `errors have the form of the API, and clients read the status`() {
    let missing = StorageServiceError(.notFound, "No such object: b/<o>")
    func response(_ api: StorageRoute.API, _ call: StorageRoute.Call) -> StorageErrorWire.Response {
      StorageErrorWire.response(of: missing, to: StorageRoute(api, call))
    }
    #expect(
      text(response(.firebase, .get(cat.name)).body) == #"{"error":{"code":404,"message":"No such object: b/<o>"}}"#)
    #expect(text(response(.google, .get(cat.name)).body).contains(#""reason":"notFound""#))
    #expect(text(response(.google, .download(cat.name, token: nil)).body) == "No such object: b/&lt;o&gt;")
    let xml = response(.xml, .download(cat.name, token: nil))
    #expect(text(xml.body).contains("<Code>NoSuchKey</Code><Message>No such object: b/&lt;o&gt;</Message>"))
    #expect(StorageErrorWire.error(status: 404, body: xml.body).message == "No such object: b/&lt;o&gt;")
    let errors: [(StorageServiceError, Int)] = [
      (StorageServiceError(.failedPrecondition, "m", reason: .precondition), 412),
      (StorageServiceError(.resourceExhausted, "m", reason: .diskFull), 402),
      (StorageServiceError(.permissionDenied, "m"), 403), (StorageServiceError(.unauthenticated, "m"), 401),
      (StorageServiceError(.outOfRange, "m"), 416), (StorageServiceError(.unavailable, "m"), 503),
    ]
    for (error, status) in errors {
      let response = StorageErrorWire.response(of: error, to: StorageRoute(.firebase, .get(cat.name)))
      #expect(response.status == status)
      #expect(StorageErrorWire.error(status: status, body: response.body) == error)
    }
    // A damaged object is not worth the repetitions that a status of 500 brings.
    #expect(StorageErrorWire.status(of: StorageServiceError(.dataLoss, "m")) == 400)
  }

  @Test func `headers of downloads carry the metadata, and no value ends its header`() {
    var object = cat
    object.metadata.custom = ["k": "v\r\nx: y", "bad name": "z"]
    object.metadata.cacheControl = "no-cache"
    let fields = DownloadHeaders.fields(of: object, bytes: 1...3)
    let values = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
    #expect(values["content-disposition"] == "attachment; filename*=utf-8''cat.jpg")
    #expect(values["content-range"] == "bytes 1-3/5" && values["x-goog-meta-k"] == "v  x: y")
    #expect(values["x-goog-meta-bad name"] == nil)
    let body = DownloadHeaders.upload(fields + [(name: "content-md5", value: "!")])
    #expect(body.metadata.contentType == "image/jpeg" && body.metadata.cacheControl == "no-cache")
    #expect(body.digest.crc32c == cat.crc32c)
  }
}
