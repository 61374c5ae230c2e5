import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

extension DownloadExchange {
  /// The content without the compression in which it is stored, for a client that does not take that.
  ///
  /// Worked example: `page.html` was uploaded with `content-encoding: gzip`. A browser takes gzip, and gets the stored
  /// bytes with that header. A program that asks without `accept-encoding` gets the page, all of it, whatever range it
  /// has asked for: a range is one of the stored bytes. Objects with `cache-control: no-transform` are left as they
  /// are.
  ///
  /// - Returns: `nil` where the stored bytes are what the client wants, where they cannot be decompressed, and where
  ///   they are larger than ``StorageEndpointsTuning/decompressionLimit``, before or afterwards.
  func decompressed(_ download: ObjectDownload, _ token: String?) async throws -> HTTPResponse? {
    let (metadata, limit) = (download.object.metadata, exchange.tuning.decompressionLimit)
    guard let compression = exchange.host.compression,
      metadata.contentEncoding?.lowercased() == compression.name,
      !(exchange.field("accept-encoding") ?? "").lowercased().contains(compression.name),
      !(metadata.cacheControl ?? "").lowercased().contains("no-transform"),
      download.object.size <= Int64(limit)
    else { return nil }
    // Read again and not from this download, which may be of a range and is still needed where this fails.
    let read = ReadRequest(
      object: download.object.name, preconditions: Preconditions(ifGenerationMatch: download.object.generation),
      downloadToken: token)
    let whole = try await exchange.backend.openObject(read, context: exchange.context)
    defer { whole.content.close() }
    var stored: [UInt8] = []
    while case let bytes = try await whole.content.read(maximumLength: exchange.tuning.readLength), !bytes.isEmpty {
      stored += bytes
    }
    guard let plain = try? compression.decompress(stored, limit) else { return nil }
    download.content.close()
    var fields = HTTPFields(named: DownloadHeaders.fields(of: download.object))
    fields.remove("content-encoding")
    fields.append("x-goog-stored-content-encoding", compression.name)
    fields.append("x-goog-stored-content-length", "\(download.object.size)")
    fields.append("warning", "214 UploadServer gunzipped")
    overrideFields(&fields)
    return HTTPResponse(.ok, fields: fields, body: .bytes(plain))
  }
}
