import BenchmarkKit
import VestaFirestoreBackend

/// Small transforms of one large array: the cost of many in one commit, compared with a single one.
func transformLines() -> [Benchmark] {
  [
    line(
      "500-unions-in-500-writes", .ratio(atMost: 3), unions(writes: 500, transforms: 1),
      unions(writes: 1, transforms: 1)),
    line(
      "500-unions-in-one-write", .ratio(atMost: 3), unions(writes: 1, transforms: 500), unions(writes: 1, transforms: 1)
    ),
  ]
}

/// Commits that add elements to an array of 39,000, most of which it has.
private func unions(writes: Int, transforms: Int) -> Side {
  let name = "\(FirestoreBench.root("transforms"))/arrays/one"
  return Side(
    "\(writes) writes of \(transforms) unions", count: 5,
    prepare: { bench in
      let elements = (0..<39_000).map { Value.integer(Int64($0)) }
      try await bench.commit([.update(Document(name: name, fields: ["a": .array(elements)]))], in: "transforms")
    }
  ) { bench, count, seed in
    for round in 0..<count {
      let commit = (0..<writes).map { write in
        let unions = (0..<transforms).map { number in
          let known = Int64((write * transforms + number) % 39_000)
          let element = Value.integer(number == 0 && write == 0 ? Int64(seed &+ round) : known)
          return FieldTransform(fieldPath: "a", .appendMissingElements([element]))
        }
        return Write(.transform(name: name, transforms: unions))
      }
      try await bench.commit(commit, in: "transforms")
    }
  }
}
