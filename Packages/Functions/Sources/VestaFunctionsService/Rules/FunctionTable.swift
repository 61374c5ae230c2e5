import VestaFunctionsBackend

/// Functions of one kind by name and region; pure.
struct FunctionTable<Function> {
  private struct Key: Hashable {
    let name: String
    let region: String
  }

  private var functions: [Key: Function] = [:]

  /// Sets or, with `nil`, removes a function.
  ///
  /// - Returns: The previous function, which the caller releases when it no longer holds a lock.
  mutating func set(_ function: Function?, _ name: String, _ region: String) -> Function? {
    let key = Key(name: name, region: region)
    guard let function else { return functions.removeValue(forKey: key) }
    return functions.updateValue(function, forKey: key)
  }

  /// The function that a caller names.
  ///
  /// A URL names the function by the last component of its path; the region does not count then.
  func function(for target: FunctionTarget) -> Function? {
    switch target {
    case .name(let name, let region): return functions[Key(name: name, region: region)]
    case .url(let url):
      let name = FunctionName.last(ofURL: url)
      return functions[Key(name: name, region: CallableOptions().region)]
        ?? functions.filter { $0.key.name == name }.min { $0.key.region < $1.key.region }?.value
    }
  }
}
