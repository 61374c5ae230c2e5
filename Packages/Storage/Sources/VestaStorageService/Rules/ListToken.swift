import VestaServiceInterop
import VestaStorageBackend

/// The start of the next page of a listing, as a string that callers pass back; pure.
enum ListToken {
  /// The token of a page that begins at a name.
  static func token(from name: String, of request: ListRequest) -> String {
    PageToken(position: Array(name.utf8), of: scope(request)).text
  }

  /// The name at which the page of a token begins.
  ///
  /// - Throws: `invalidArgument` for a token that was not made for this listing.
  static func name(_ token: String, of request: ListRequest) throws(StorageServiceError) -> String {
    guard let token = try? PageToken(token, of: scope(request)),
      let name = String(validating: token.position, as: UTF8.self), name.utf8.starts(with: request.prefix.utf8)
    else {
      throw StorageServiceError(
        .invalidArgument,
        "The page token is not of this listing. Pass the token of the page before, with the same arguments.")
    }
    return name
  }

  private static func scope(_ request: ListRequest) -> [UInt8] {
    var text = "\(request.bucket)\u{0}\(request.prefix)\u{0}\(request.delimiter ?? "\u{0}")"
    if let start = request.startOffset { text += "\u{0}from \(start)" }
    if let end = request.endOffset { text += "\u{0}to \(end)" }
    return Array(text.utf8)
  }
}
