extension DatabaseQuery {
  /// Completion form of ``getData()``.
  @preconcurrency
  public func getData(completion block: @escaping @Sendable ((any Error)?, DataSnapshot?) -> Void) {
    let (path, spec, reference) = (path, spec, ref)
    if let misuse { return repo.perform { $0.complete { block(misuse, nil) } } }
    let number = HandleSource.next()
    repo.perform { repo in
      repo.get(number, path, spec) { result in
        switch result {
        case .success(let indexed): block(nil, DataSnapshot(reference, indexed))
        case .failure(let error): block(error, nil)
        }
      }
    }
  }
}
