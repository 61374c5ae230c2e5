/// The way to a value, assembled on request: decoding a value needs no array of keys.
struct CodingPlace {
  private let above: Container?
  private let key: (any CodingKey)?

  /// The value that was to be decoded, in nothing.
  static var top: CodingPlace { CodingPlace(above: nil, key: nil) }

  private init(above: Container?, key: (any CodingKey)?) { (self.above, self.key) = (above, key) }

  /// The place of a key in a container; `nil` for one at the top.
  init(_ key: any CodingKey, in container: Container?) { self.init(above: container, key: key) }

  /// The place of a container, for what is in it; made once for each.
  var container: Container? { key.map { Container(above: above, key: $0) } }

  /// The keys from the top.
  var path: [any CodingKey] {
    var path = key.map { [$0] } ?? []
    var next = above
    while let container = next {
      path.append(container.key)
      next = container.above
    }
    return path.reversed()
  }

  /// A container on the way.
  final class Container {
    fileprivate let above: Container?
    fileprivate let key: any CodingKey

    fileprivate init(above: Container?, key: any CodingKey) { (self.above, self.key) = (above, key) }
  }
}
