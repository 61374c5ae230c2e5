import Testing
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

@testable import VestaFirestoreEndpoints

/// The meaning of a path, a query and a body.
@Suite struct FirestoreRESTRequestTests {
  private let root = "projects/p/databases/(default)/documents"

  private func read(_ method: HTTPMethod, _ target: String, _ body: String = "") throws -> FirestoreRESTRequest {
    let request = HTTPRequest(method, target, authority: "h")
    return try FirestoreRESTRequest(method, path: request.path, query: request.query, body: Array(body.utf8))
  }

  private func refused(_ method: HTTPMethod, _ target: String, _ body: String = "") -> ServiceCode? {
    do {
      _ = try read(method, target, body)
      return nil
    } catch {
      return (error as? ServiceStatus)?.code
    }
  }

  @Test(arguments: ["(default)", "%28default%29", "(default%29"])
  func `an id is decoded, and means the same however it is written`(database: String) throws {
    let get = try read(.get, "/v1/projects/p/databases/\(database)/documents/a/b%20c")
    #expect(get.call == "GetDocument")
    #expect(get.message == ["name": .string("\(root)/a/b c")])
  }

  @Test func `each call for documents is known by its method and place`() throws {
    #expect(try read(.get, "/v1/\(root)/a").call == "ListDocuments")
    #expect(try read(.get, "/v1/\(root)/a/b/c").message["parent"] == .string("\(root)/a/b"))
    #expect(try read(.delete, "/v1/\(root)/a/b").call == "DeleteDocument")
    let created = try read(.post, "/v1/\(root)/a?documentId=b", #"{"fields":{}}"#)
    #expect(created.call == "CreateDocument")
    let message: JSONValue = [
      "parent": .string(root), "collectionId": "a", "document": ["fields": [:]], "documentId": "b",
    ]
    #expect(created.message == message)
    let updated = try read(
      .patch, "/v1/\(root)/a/b?updateMask.fieldPaths=x&updateMask.fieldPaths=y&currentDocument.exists=true", "{}")
    #expect(updated.call == "UpdateDocument")
    #expect(updated.message["updateMask"] == ["fieldPaths": ["x", "y"]])
    #expect(updated.message["currentDocument"] == ["exists": true])
    #expect(updated.message["document"] == ["name": .string("\(root)/a/b")])
  }

  @Test func `a verb is one of the twelve, after the last colon, and on POST alone`() throws {
    #expect(try read(.post, "/v1/\(root):commit", "{}").message == ["database": "projects/p/databases/(default)"])
    #expect(try read(.post, "/v1/\(root)/a/b:runQuery", "{}").message == ["parent": .string("\(root)/a/b")])
    // An id may have a colon, bare or encoded.
    #expect(try read(.get, "/v1/\(root)/a/b:commit").message == ["name": .string("\(root)/a/b:commit")])
    #expect(try read(.get, "/v1/\(root)/a/b%3AunQuery").message == ["name": .string("\(root)/a/b:unQuery")])
    #expect(try read(.post, "/v1/\(root)/a:b", "{}").message["collectionId"] == "a:b")
    #expect(refused(.post, "/v1/\(root)/a:commit", "{}") == .notFound)
    #expect(refused(.post, "/v1/\(root)/a:runQuery", "{}") == .notFound)
  }

  @Test func `what means no call is refused, and so is what has no id`() {
    for target in ["/", "/v1", "/v1/projects/p", "/v1/\(root)", "/v2/\(root)/a/b", "/v1/projects/p/databases/d/x/a/b"] {
      #expect(refused(.get, target) == .notFound)
    }
    for target in ["/v1/\(root)//b", "/v1/\(root)/a/", "/v1/\(root)/a/b%2Fc", "/v1/\(root)/a/%zz", "/v1/\(root)/a/%ff"]
    {
      #expect(refused(.get, target) == .invalidArgument)
    }
    #expect(refused(.post, "/v1/\(root):commit", "[]") == .invalidArgument)
    #expect(refused(.post, "/v1/\(root):commit", "{") == .invalidArgument)
  }

  @Test func `a parameter that is not known, or that the path says, is refused; what all APIs have is not`() throws {
    #expect(try read(.get, "/v1/\(root)/a/b?key=k&alt=json&$alt=json&prettyPrint=true&fields=x").call == "GetDocument")
    for query in ["name=x", "database=x", "a.b.c=1", "=1", "currentDocument.exists=maybe", "a=%zz"] {
      #expect(refused(.get, "/v1/\(root)/a/b?\(query)") == .invalidArgument)
    }
    #expect(refused(.post, "/v1/\(root):commit?transaction=x", "{}") == .invalidArgument)
  }

  @Test func `clearing is known by its path`() {
    let call = FirestoreEmulatorCall(method: .delete, target: "/emulator/v1/projects/p/databases/(default)/documents")
    #expect(call == .clear(project: "p", database: "(default)"))
    #expect(FirestoreEmulatorCall(method: .get, target: "/emulator/v1/projects/p/databases/(default)/documents") == nil)
    #expect(FirestoreEmulatorCall(method: .delete, target: "/emulator/v1/projects/p/databases/x") == nil)
  }
}

extension JSONValue {
  fileprivate subscript(name: String) -> JSONValue? { object?[name] }
}
