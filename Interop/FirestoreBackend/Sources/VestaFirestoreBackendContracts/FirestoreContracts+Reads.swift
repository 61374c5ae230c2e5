import VestaFirestoreBackend
public import VestaTesting

extension FirestoreContracts {
  /// The promises of reads by name.
  public static let reads: [Contract<FirestoreSubject>] = [
    Contract("every kind of value comes back as it was written") { subject in
      let fields: MapValue = [
        "null": .null, "yes": .boolean(true), "i": .integer(.min), "zero": .double(-0.0), "nan": .double(.nan),
        "inf": .double(.infinity), "t": .timestamp(Timestamp(seconds: -1, nanos: 1000)), "s": .string("a\0\u{E9}😀"),
        "bytes": .bytes([0, 255]), "r": .reference(subject.name("rooms/b")),
        "g": .geoPoint(GeoPoint(latitude: -1.5, longitude: 2)), "v": .vector([1, 2.5]),
        "l": .array([.map(["x": .array([])]), .null]), "": .null,
        // One letter in two ways: two names.
        "\u{E9}": .integer(1), "e\u{301}": .integer(2),
      ]
      var named = fields
      named[""] = nil
      try await subject.commit(subject.set("rooms/a", named))
      try expect(try await subject.get("rooms/a")?.fields, equals: named, "the fields")
    },
    Contract("what is finer than a microsecond is cut off") { subject in
      let fine = Value.timestamp(Timestamp(seconds: 1, nanos: 1999))
      try await subject.commit(subject.set("rooms/a", ["l": .array([fine])]))
      let cut = Value.array([.timestamp(Timestamp(seconds: 1, nanos: 1000))])
      try expect(try await subject.get("rooms/a")?.fields["l"], equals: cut, "the time")
    },
    Contract("documents are read by name: each once, found or missing") { subject in
      try await subject.commit(subject.set("rooms/a", ["x": .integer(1), "y": .integer(2)]))
      let names = ["rooms/a", "rooms/b", "rooms/a"].map(subject.name)
      let request = BatchGetDocumentsRequest(
        database: subject.database, documents: names, mask: DocumentMask(fieldPaths: ["x"]))
      var found: [MapValue] = []
      var missing: [String] = []
      try await subject.backend.batchGet(request, context: subject.context) { response in
        switch response.result {
        case .found(let document): found.append(document.fields)
        case .missing(let name): missing.append(name)
        case nil: break
        }
        try expect(response.readTime != nil, "a response has no read time")
      }
      try expect(found, equals: [["x": .integer(1)]], "what was found")
      try expect(missing, equals: [subject.name("rooms/b")], "what is missing")
    },
    Contract("all documents of a read are of one read time") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(0)]), subject.set("rooms/b", ["n": .integer(0)]))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for number in 1...40 {
            let fields: MapValue = ["n": .integer(Int64(number))]
            try await subject.commit(subject.set("rooms/a", fields), subject.set("rooms/b", fields))
          }
        }
        group.addTask {
          for _ in 0..<40 {
            let both = try await subject.get(["rooms/a", "rooms/b"]).map { $0?.fields }
            try expect(both[0], equals: both[1], "the second of two documents that change together")
          }
        }
        try await group.waitForAll()
      }
    },
    Contract("who receives can end a call with an error of its own") { subject in
      struct Enough: Error {}
      try await subject.commit(subject.set("rooms/a"), subject.set("rooms/b"))
      let request = RunQueryRequest(parent: subject.root, query: .all("rooms"))
      try await expectThrows(Enough.self, "a query whose receiver throws") {
        try await subject.backend.runQuery(request, context: subject.context) { _ in throw Enough() }
      }
      let names = BatchGetDocumentsRequest(database: subject.database, documents: [subject.name("rooms/a")])
      try await expectThrows(Enough.self, "a read whose receiver throws") {
        try await subject.backend.batchGet(names, context: subject.context) { _ in throw Enough() }
      }
    },
    Contract("collections are listed, also below documents that are missing") { subject in
      try await subject.commit(subject.set("b/x"), subject.set("a/missing/c/y"), subject.set("a/missing/d/y"))
      for (parent, expected) in [("", ["a", "b"]), ("/a/missing", ["c", "d"]), ("/b/x", [])] {
        let request = ListCollectionIDsRequest(parent: subject.root + parent)
        let listed = try await subject.backend.listCollectionIDs(request, context: subject.context)
        try expect(listed.collectionIDs, equals: expected, "the collections of \"\(parent)\"")
      }
    },
  ]

  /// The promises of lists in pages.
  public static let listings: [Contract<FirestoreSubject>] = [
    Contract("pages have every document once, in the order of names") { subject in
      for number in 0..<7 { try await subject.commit(subject.set("rooms/\(number)")) }
      var request = ListDocumentsRequest(parent: subject.root, collectionID: "rooms", pageSize: 3)
      var names: [String] = []
      var pages = 0
      repeat {
        let page = try await subject.backend.listDocuments(request, context: subject.context)
        try expect(page.documents.count <= 3, "a page has more than it may")
        names += page.documents.map(\.name)
        request.pageToken = page.nextPageToken
        pages += 1
      } while !request.pageToken.isEmpty && pages < 10
      try expect(names, equals: (0..<7).map { subject.name("rooms/\($0)") }, "the documents of all pages")
    },
    Contract("documents that are missing and have something below are shown on request") { subject in
      try await subject.commit(subject.set("rooms/a"), subject.set("rooms/m/parts/x"))
      for (shows, expected) in [(true, ["a", "m"]), (false, ["a"])] {
        let request = ListDocumentsRequest(parent: subject.root, collectionID: "rooms", showMissing: shows)
        let listed = try await subject.backend.listDocuments(request, context: subject.context).documents
        try expect(listed.map(\.name), equals: expected.map { subject.name("rooms/\($0)") }, "what is listed")
        try expect(listed.last?.updateTime == nil, equals: shows, "whether the last one has no time")
      }
    },
  ]

  /// The promises of reads in the past.
  public static let past: [Contract<FirestoreSubject>] = [
    Contract("the database is read as it was at a time in the past") { subject in
      let first = try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]), subject.set("rooms/b"))
      try await subject.commit(
        subject.set("rooms/a", ["n": .integer(2)]), .delete(subject.name("rooms/b")), subject.set("rooms/c"))
      let then = ReadConsistency.readTime(first.commitTime)
      try expect(try await subject.get("rooms/a", then)?.fields, equals: ["n": .integer(1)], "the fields")
      try expect(try await subject.ids(.all("rooms"), then), equals: ["rooms/a", "rooms/b"], "the query")
      try expect(try await subject.ids(.all("rooms")), equals: ["rooms/a", "rooms/c"], "the query now")
    },
    Contract("the future cannot be read") { subject in
      let now = try await subject.commit(subject.set("rooms/a")).commitTime
      try await expectRefusal(.invalidArgument, .failedPrecondition, of: "a time in the future") {
        try await subject.get("rooms/a", .readTime(Timestamp(seconds: now.seconds + 3600)))
      }
    },
  ]
}
