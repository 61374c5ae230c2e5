/// Media types by file extension; pure.
enum MediaTypes {
  /// The type of content of which nothing else is known.
  static let unknown = "application/octet-stream"

  /// The media type of a file's extension.
  static func type(forExtension fileExtension: String) -> String { table[fileExtension.lowercased()] ?? unknown }

  private static let table: [String: String] = [
    "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif", "bin": unknown, "bmp": "image/bmp",
    "css": "text/css", "csv": "text/csv", "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "epub": "application/epub+zip",
    "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "htm": "text/html",
    "html": "text/html", "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "jpeg": "image/jpeg",
    "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json", "m4a": "audio/mp4", "m4v": "video/x-m4v",
    "md": "text/markdown", "mjs": "text/javascript", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
    "mpeg": "video/mpeg", "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "otf": "font/otf",
    "pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "rtf": "application/rtf",
    "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff", "ttf": "font/ttf",
    "txt": "text/plain", "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm",
    "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2", "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
    "zip": "application/zip",
  ]
}
