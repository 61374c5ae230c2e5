import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

/// Writes of one commit to one document, against the plain rule for one write after the other.
struct DocumentDraftTests {
  private static let name = WriteTests.name
  private static let now = WriteTests.now

  private static func value(_ data: inout SplitMix) -> Value {
    data.pick([
      .integer(1), .integer(2), .double(2), .double(.nan), .string("a"), .null, .array([]),
      .array([.integer(1), .integer(2), .double(1), .string("a")]), .array([.integer(2), .integer(2)]),
      .map(["x": .integer(1)]), .map(["x": .array([.integer(1)]), "y": .map(["z": .array([.string("a")])])]),
      .timestamp(WriteTests.before),
    ])
  }

  private static func path(_ data: inout SplitMix) -> String {
    data.pick(["a", "a", "a.x", "b", "b.x", "b.y", "b.y.z", "b.y.z.w", "c"])
  }

  private static func fields(_ data: inout SplitMix) -> MapValue {
    var fields = MapValue()
    for name in ["a", "b", "c"] where !data.oneIn(3) { fields[name] = value(&data) }
    return fields
  }

  private static func transform(_ data: inout SplitMix) -> FieldTransform {
    let elements = (0..<data.below(4)).map { _ in
      data.pick([Value.integer(1), .integer(2), .double(2), .double(.nan), .string("a"), .string("b"), .null])
    }
    return FieldTransform(
      fieldPath: path(&data),
      data.pick([
        .appendMissingElements(elements), .appendMissingElements(elements), .removeAllFromArray(elements),
        .removeAllFromArray(elements), .increment(.integer(1)), .maximum(.double(2)), .minimum(.integer(2)),
        .serverTimestamp,
      ]))
  }

  private static func write(_ data: inout SplitMix) -> Write {
    let transforms = (0..<data.below(4)).map { _ in transform(&data) }
    let precondition: Precondition? = data.pick([
      nil, nil, nil, nil, .exists(true), .exists(false), .updateTime(WriteTests.before), .updateTime(now),
    ])
    let operation: Write.Operation
    switch data.below(8) {
    case 0: operation = .delete(name: name)
    case 1: operation = .verify(name: name)
    case 2: operation = .update(Document(name: name, fields: fields(&data)), mask: nil, transforms: transforms)
    case 3, 4, 5:
      let paths = Set((0..<data.below(3)).map { _ in path(&data) }).sorted()
      operation = .update(
        Document(name: name, fields: fields(&data)), mask: DocumentMask(fieldPaths: paths), transforms: transforms)
    default: operation = .transform(name: name, transforms: transforms)
    }
    return Write(operation, precondition: precondition)
  }

  /// A write by the plain rule, one part after the other.
  private static func plain(_ write: Write, _ document: Document?) throws(FirestoreServiceError) -> Write.Outcome {
    var first = write
    switch write.operation {
    case .delete, .verify: return try write.applied(to: document, commitTime: now)
    case .update(let update, let mask, _): first.operation = .update(update, mask: mask, transforms: [])
    case .transform:
      first.operation = .update(Document(name: name), mask: DocumentMask(fieldPaths: []), transforms: [])
    }
    var outcome = try first.applied(to: document, commitTime: now)
    for transform in write.transforms {
      let part = Write(.transform(name: name, transforms: [transform]))
      let next = try part.applied(to: outcome.document, commitTime: now)
      let result = WriteResult(
        updateTime: next.result.updateTime,
        transformResults: outcome.result.transformResults + next.result.transformResults)
      outcome = Write.Outcome(
        document: next.document, isChange: outcome.isChange || next.isChange, result: result)
    }
    return outcome
  }

  @Test(arguments: UInt64(1)...20)
  func `writes together have the same result as one by one`(seed: UInt64) throws {
    var data = SplitMix(seed: seed)
    var (changed, refused) = (0, 0)
    for number in 0..<400 {
      let stored = data.oneIn(4) ? nil : WriteTests.document(Self.fields(&data))
      var expected = stored
      var isChanged = false
      var draft = DocumentDraft(stored, name: Self.name, commitTime: Self.now)
      for part in 0..<1 + data.below(6) {
        let write = Self.write(&data)
        // Called only for a failure: describing a write takes longer than applying it.
        func label() -> Comment { "seed \(seed), \(number), \(part): \(write)" }
        do {
          let outcome = try Self.plain(write, expected)
          if outcome.isChange { (expected, isChanged) = (outcome.document, true) }
          let result = try draft.apply(write)
          #expect(result == outcome.result, label())
        } catch let error {
          refused += 1
          #expect(throws: error, label()) { try draft.apply(write) }
        }
        #expect(draft.isChanged == isChanged, label())
      }
      let document = try draft.finish()
      #expect(document == expected, "seed \(seed), \(number)")
      if isChanged { changed += 1 }
    }
    #expect(changed > 100 && refused > 10)
  }

  @Test(arguments: UInt64(1)...4)
  func `server times are put where they are left, at any commit time`(seed: UInt64) throws {
    var data = SplitMix(seed: seed)
    let later = Timestamp(seconds: 40, nanos: 7_000_000)
    var timed = 0
    for number in 0..<400 {
      let stored = data.oneIn(4) ? nil : WriteTests.document(Self.fields(&data))
      var (now, then) = (
        DocumentDraft(stored, name: Self.name, commitTime: Self.now),
        DocumentDraft(stored, name: Self.name, commitTime: later)
      )
      for _ in 0..<1 + data.below(5) {
        var write = Self.write(&data)
        write.precondition = nil
        _ = try now.apply(write)
        _ = try then.apply(write)
      }
      let expected = try then.finish()?.fields
      _ = try now.finish()
      #expect(now.fields(at: later) == expected, "seed \(seed), \(number)")
      if now.hasServerTimes { timed += 1 }
    }
    #expect(timed > 20)
  }

  /// The work follows the array once, and not once for each transform.
  @Test func `many transforms of one large array take it apart once`() throws {
    let elements = (0..<20_000).map { Value.integer(Int64($0)) }
    var draft = DocumentDraft(WriteTests.document(["a": .array(elements)]), name: Self.name, commitTime: Self.now)
    for number in 0..<20_000 {
      let known = [Value.integer(Int64(number))]
      let operation: FieldTransform.Operation =
        number.isMultiple(of: 2) ? .appendMissingElements(known) : .removeAllFromArray(known)
      let transform = FieldTransform(fieldPath: "a", operation)
      _ = try draft.apply(Write(.transform(name: Self.name, transforms: [transform])))
    }
    let left = try draft.finish()?.fields["a"]
    #expect(left == .array(elements.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)))
  }
}
