import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

@Suite struct MutationTests {
  static let database = DatabaseName(project: "p")
  static let name = ResourceName(database: database, path: ResourcePath(["c", "a"]))
  static let path = name.path
  static let time = Timestamp(seconds: 7)

  static func found(_ fields: MapValue, version: Int64 = 3) -> CachedDocument {
    CachedDocument(name, .found(fields), version: Timestamp(seconds: version))
  }

  static func apply(_ mutations: [Mutation], to document: CachedDocument) -> (CachedDocument, MutatedFields) {
    var document = document
    let batch = MutationBatch(id: 1, localWriteTime: time, mutations: mutations)
    let mutated = batch.applyLocally(to: &document)
    return (document, mutated)
  }

  static func patch(_ fields: MapValue, _ paths: [[String]], _ precondition: Precondition? = nil) -> Mutation {
    Mutation(path, .patch(fields, mask: FieldMask(paths.map(FieldPath.init))), precondition: precondition)
  }

  @Test func `a set replaces every field and leaves no version`() {
    let (document, mutated) = Self.apply([Mutation(Self.path, .set(["a": .integer(1)]))], to: Self.found(["b": .null]))
    #expect(document.fields == ["a": .integer(1)])
    #expect(document.hasLocalMutations && document.version == .zero && mutated == .all)
  }

  @Test func `a patch sets the paths of its mask, removes those without a value, and creates without a precondition`() {
    let patch = Self.patch(["a": .map(["b": .integer(1)])], [["a", "b"], ["c"]])
    let (document, mutated) = Self.apply([patch], to: Self.found(["a": .map(["x": .null]), "c": .null, "d": .null]))
    #expect(document.fields == ["a": .map(["b": .integer(1), "x": .null]), "d": .null])
    #expect(mutated == .paths([FieldPath(["a", "b"]), FieldPath(["c"])]))
    #expect(Self.apply([patch], to: CachedDocument(Self.name, .invalid)).0.fields == ["a": .map(["b": .integer(1)])])
  }

  @Test func `a mutation whose precondition does not hold changes nothing`() {
    let missing = CachedDocument(Self.name, .missing, version: Timestamp(seconds: 3))
    let refused = Self.apply([Self.patch(["a": .null], [["a"]], .exists(true))], to: missing)
    #expect(refused.0 == missing && refused.1 == .none)
    let delete = Mutation(Self.path, .delete, precondition: .updateTime(Timestamp(seconds: 4)))
    #expect(Self.apply([delete], to: Self.found([:])).0.isFound)
    let right = Mutation(Self.path, .delete, precondition: .updateTime(Timestamp(seconds: 3)))
    #expect(Self.apply([right], to: Self.found([:])).0.isMissing)
  }

  @Test func `the transforms of a set begin without the fields from before`() {
    let union = FieldTransform.Operation.appendMissingElements([.integer(1)])
    let mutation = Mutation(
      Self.path, .set([:]),
      transforms: [.init(FieldPath(["n"]), .increment(.integer(1))), .init(FieldPath(["list"]), union)])
    let before = Self.found(["n": .integer(5), "list": .array([.integer(7)])])
    let expected: MapValue = ["n": .integer(1), "list": .array([.integer(1)])]
    #expect(Self.apply([mutation], to: before).0.fields == expected)
    #expect(mutation.base(on: before) == nil)
    var acknowledged = before
    mutation.applyAcknowledged(to: &acknowledged, version: Timestamp(seconds: 9), results: [.integer(1), .null])
    #expect(acknowledged.fields == expected)
  }

  @Test func `transforms see the fields of the mutation, and server times keep the value from before`() {
    let mutation = Mutation(
      Self.path, .set(["n": .integer(100)]),
      transforms: [.init(FieldPath(["n"]), .increment(.integer(1))), .init(FieldPath(["t"]), .serverTimestamp)])
    let (document, _) = Self.apply([mutation], to: Self.found(["n": .integer(1), "t": .string("old")]))
    #expect(document.fields?["n"] == .integer(101))
    let pending = document.fields?["t"]
    #expect(pending?.pendingWriteTime == Self.time && pending?.pendingPreviousValue == .string("old"))
  }

  @Test func `a chain of server times keeps the oldest previous value`() {
    let stamp = Mutation(
      Self.path, .patch([:], mask: FieldMask([])), transforms: [.init(FieldPath(["t"]), .serverTimestamp)])
    let (document, _) = Self.apply([stamp, stamp, stamp], to: Self.found(["t": .integer(5)]))
    #expect(document.fields?["t"]?.pendingPreviousValue == .integer(5))
  }

  @Test func `an increment of what is no number counts from zero, and its base keeps the number from before`() {
    let mutation = Mutation(
      Self.path, .patch([:], mask: FieldMask([])), transforms: [.init(FieldPath(["n"]), .increment(.integer(3)))])
    #expect(Self.apply([mutation], to: Self.found(["n": .string("x")])).0.fields?["n"] == .integer(3))
    let base = mutation.base(on: Self.found(["n": .double(1.5)]))
    #expect(base == Self.patch(["n": .double(1.5)], [["n"]], .exists(true)))
    #expect(mutation.base(on: Self.found(["n": .null])) == Self.patch(["n": .integer(0)], [["n"]], .exists(true)))
    // An update that has the increment in it already is not incremented twice.
    var document = Self.found(["n": .double(4.5)])
    let batch = MutationBatch(
      id: 1, localWriteTime: Self.time, baseMutations: [base].compactMap(\.self), mutations: [mutation])
    _ = batch.applyLocally(to: &document)
    #expect(document.fields?["n"] == .double(4.5))
  }

  @Test func `an acknowledgement brings the service's results, and arrays are computed`() throws {
    let mutation = Mutation(
      Self.path, .set(["a": .null]),
      transforms: [
        .init(FieldPath(["n"]), .increment(.integer(1))),
        .init(FieldPath(["l"]), .appendMissingElements([.integer(1)])),
      ])
    let batch = MutationBatch(id: 1, localWriteTime: Self.time, mutations: [mutation])
    let version = Timestamp(seconds: 9)
    let result = WriteResult(updateTime: version, transformResults: [.integer(42), .null])
    let answer = try #require(BatchAcknowledgement(batch, commitTime: Timestamp(seconds: 8), results: [result]))
    var document = Self.found(["l": .array([.integer(2)])])
    batch.applyAcknowledged(to: &document, answer)
    #expect(document.fields == ["a": .null, "n": .integer(42), "l": .array([.integer(1)])])
    #expect(document.hasCommittedMutations && document.version == version && answer.versions == [Self.path: version])
    #expect(BatchAcknowledgement(batch, commitTime: version, results: []) == nil)
  }

  @Test func `an acknowledged patch of a document that is not cached leaves it unknown`() {
    var document = CachedDocument(Self.name, .missing, version: Timestamp(seconds: 1))
    Self.patch(["a": .null], [["a"]], .exists(true)).applyAcknowledged(
      to: &document, version: Timestamp(seconds: 9), results: [])
    #expect(
      document.contents == .unknown && document.version == Timestamp(seconds: 9) && document.hasCommittedMutations)
  }

  @Test func `an overlay of a removed nested field has the map that it was in`() {
    let set = Self.patch(["a": .map(["b": .integer(1)])], [["a", "b"]])
    let remove = Self.patch([:], [["a", "b"]])
    let (document, mutated) = Self.apply([set, remove], to: Self.found([:]))
    let overlay = Overlay.mutation(of: document, mutated: mutated)
    #expect(overlay == Self.patch(["a": .map([:])], [["a"]]))
    #expect(Overlay.mutation(of: Self.found([:]), mutated: .none) == nil)
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func `an overlay does what the mutations do together, and survives its bytes`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<200 {
      let base = random.below(3) == 0 ? CachedDocument(Self.name, .missing) : Self.found(Self.fields(&random))
      let mutations = (0..<1 + random.below(4)).map { _ in Self.mutation(&random) }
      let (document, mutated) = Self.apply(mutations, to: base)
      let batch = MutationBatch(id: random.below(100), localWriteTime: Self.time, mutations: mutations)
      #expect(try MutationBatch(batch.bytes) == batch)
      guard let mutation = Overlay.mutation(of: document, mutated: mutated, isBaseFound: base.isFound) else {
        #expect(document.contents == base.contents)
        continue
      }
      let overlay = Overlay(largestBatchID: 3, mutation)
      #expect(try Overlay(overlay.bytes) == overlay)
      var local = base
      _ = mutation.applyLocally(to: &local, mutated: .none, at: Timestamp(seconds: 99))
      #expect(local == document, "\(mutations) on \(base)")
    }
  }

  @Test func `damaged bytes are refused`() {
    let bytes = Mutation(Self.path, .set(["a": .string("text")]), precondition: .exists(true)).bytes
    for count in 0..<bytes.count {
      #expect(throws: FirestoreServiceError.self) { try Mutation(Array(bytes[..<count])) }
    }
    var random = SplitMix(seed: 5)
    for _ in 0..<2000 {
      var wrong = bytes
      for _ in 0..<1 + random.below(3) { wrong[random.below(wrong.count)] = UInt8(random.below(256)) }
      _ = try? Mutation(wrong)
      _ = try? QueryTarget(wrong)
      _ = try? TargetRecord(wrong)
    }
  }

  @Test func `a mutation is sent to the service unchanged`() {
    let patch = Self.patch(["a": .integer(1)], [["a"], ["b", "c d"]], .exists(true))
    let document = Document(name: Self.name.description, fields: ["a": .integer(1)])
    let mask = DocumentMask(fieldPaths: ["a", "b.`c d`"])
    #expect(patch.write(in: Self.database) == .update(document, mask: mask, precondition: .exists(true)))
    #expect(Mutation(Self.path, .delete).write(in: Self.database) == .delete(Self.name.description))
  }

  static func fields(_ random: inout SplitMix) -> MapValue {
    var fields = MapValue()
    for _ in 0..<random.below(4) { fields.set(.integer(Int64(random.below(3))), at: path(&random)) }
    return fields
  }

  static func path(_ random: inout SplitMix) -> FieldPath {
    random.pick([["a"], ["b"], ["a", "x"], ["a", "y"], ["b", "x", "z"]].map(FieldPath.init))
  }

  static func mutation(_ random: inout SplitMix) -> Mutation {
    let precondition: Precondition? = random.below(4) == 0 ? .exists(random.below(2) == 0) : nil
    let fields = Self.fields(&random)
    var change = Mutation.Change.set(fields)
    switch random.below(6) {
    case 0: change = .delete
    case 1...3: change = .patch(fields, mask: FieldMask((0..<random.below(3)).map { _ in Self.path(&random) }))
    default: break
    }
    var transforms: [Mutation.Transform] = []
    if change != .delete, random.below(3) == 0 { transforms = [.init(FieldPath(["n"]), .increment(.integer(1)))] }
    return Mutation(Self.path, change, transforms: transforms, precondition: precondition)
  }
}
