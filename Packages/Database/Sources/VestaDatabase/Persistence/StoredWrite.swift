import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel

/// A write as it is kept until it is acknowledged; server values are not resolved.
struct StoredWrite: Sendable {
  enum Change: Sendable {
    case overwrite(DatabaseNode)
    case merge([DatabasePathValue])
  }

  let id: Int
  let path: DatabasePath
  let change: Change

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(string: path.text)
    switch change {
    case .overwrite(let node):
      writer.write(byte: 0)
      writer.write(blob: NodeCoding.encode(node))
    case .merge(let values):
      writer.write(byte: 1)
      writer.write(count: values.count)
      for value in values {
        writer.write(string: value.path.text)
        writer.write(blob: NodeCoding.encode(value.node))
      }
    }
    return writer.bytes
  }

  init(id: Int, path: DatabasePath, change: Change) {
    self.id = id
    self.path = path
    self.change = change
  }

  init(id: Int, bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    self.id = id
    path = DatabasePath(try reader.string())
    if try reader.byte() == 0 {
      change = .overwrite(try NodeCoding.decode(Array(try reader.blob())))
    } else {
      var values: [DatabasePathValue] = []
      for _ in 0..<(try reader.count()) {
        let path = DatabasePath(try reader.string())
        values.append(DatabasePathValue(path, try NodeCoding.decode(Array(try reader.blob()))))
      }
      change = .merge(values)
    }
  }
}

extension SyncCache.TrackedQuery {
  /// The query as it is kept.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(string: path.text)
    writer.write(zigzag: lastUse)
    writer.write(byte: (isActive ? 1 : 0) | (isComplete ? 2 : 0))
    writer.write(count: keys.count)
    for key in keys { writer.write(string: key.text) }
    Self.write(spec, &writer)
    return writer.bytes
  }

  init(id: Int, bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    let path = DatabasePath(try reader.string())
    let lastUse = try reader.zigzag()
    let flags = try reader.byte()
    var keys: Set<DatabaseKey> = []
    for _ in 0..<(try reader.count()) { keys.insert(DatabaseKey(try reader.string())) }
    self.init(
      id: id, path: path, spec: try Self.readSpec(&reader), lastUse: lastUse, isActive: flags & 1 != 0,
      isComplete: flags & 2 != 0, keys: keys)
  }

  private static func write(_ spec: DatabaseQuerySpec, _ writer: inout ByteWriter) {
    switch spec.index {
    case .priority: writer.write(string: ".priority")
    case .key: writer.write(string: ".key")
    case .value: writer.write(string: ".value")
    case .child(let path): writer.write(string: path.text)
    }
    write(spec.start, &writer)
    write(spec.end, &writer)
    writer.write(count: spec.limit?.count ?? 0)
    writer.write(byte: spec.limit?.side == .last ? 1 : 0)
  }

  private static func write(_ bound: DatabaseQuerySpec.Bound?, _ writer: inout ByteWriter) {
    guard let bound else { return writer.write(byte: 0) }
    writer.write(byte: bound.isInclusive ? 1 : 2)
    writer.write(blob: NodeCoding.encode(bound.value))
    writer.write(count: bound.key == nil ? 0 : bound.key == .minimum ? 1 : bound.key == .maximum ? 2 : 3)
    writer.write(string: bound.key?.text ?? "")
  }

  private static func readSpec(_ reader: inout ByteReader) throws -> DatabaseQuerySpec {
    var spec = DatabaseQuerySpec()
    switch try reader.string() {
    case ".priority": spec.index = .priority
    case ".key": spec.index = .key
    case ".value": spec.index = .value
    case let path: spec.index = .child(DatabasePath(path))
    }
    spec.start = try readBound(&reader)
    spec.end = try readBound(&reader)
    let count = try reader.count()
    let side: DatabaseQuerySpec.Side = try reader.byte() == 1 ? .last : .first
    if count > 0 { spec.limit = .init(count, side) }
    return spec
  }

  private static func readBound(_ reader: inout ByteReader) throws -> DatabaseQuerySpec.Bound? {
    let kind = try reader.byte()
    guard kind != 0 else { return nil }
    let value = try NodeCoding.decode(Array(try reader.blob()))
    let keyKind = try reader.count()
    let text = try reader.string()
    let key: DatabaseKey? = keyKind == 0 ? nil : keyKind == 1 ? .minimum : keyKind == 2 ? .maximum : DatabaseKey(text)
    return .init(value, key: key, isInclusive: kind == 1)
  }
}
