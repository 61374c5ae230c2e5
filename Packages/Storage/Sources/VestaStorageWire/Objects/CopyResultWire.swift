import VestaBytes
public import VestaStorageBackend

/// The answer of Google's XML to a copy.
public enum CopyResultWire {
  /// The document about the object that was made.
  public static func xml(of object: StorageObject) -> String {
    """
    <?xml version='1.0' encoding='UTF-8'?><CopyObjectResult><ETag>"\(ObjectWire.etag(of: object))"</ETag>\
    <LastModified>\(RFC3339.text(microseconds: object.updated))</LastModified></CopyObjectResult>
    """
  }
}
