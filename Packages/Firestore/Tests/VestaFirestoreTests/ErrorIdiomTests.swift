import Foundation
import Testing
import VestaFirestore

/// The ways in which programs for the Firebase SDK look at an error, each in the words of such a program.
@Suite struct ErrorIdiomTests {
  private func fail() throws { throw FirestoreErrorCode(.notFound, "No document to update: a/b") }

  private func failAsNSError() throws {
    throw NSError(domain: FirestoreErrorDomain, code: FirestoreErrorCode.notFound.rawValue)
  }

  @Test func `a catch by the name of a code matches`() {
    for fail in [fail, failAsNSError] {
      do { try fail() } catch FirestoreErrorCode.aborted { Issue.record("another code") } catch FirestoreErrorCode
        .notFound
      {
        return
      } catch { Issue.record(error) }
      Issue.record("nothing was thrown")
    }
  }

  @Test func `a switch over the error, a condition and a cast match`() {
    do { try fail() } catch {
      switch error {
      case FirestoreErrorCode.permissionDenied: Issue.record("another code")
      case FirestoreErrorCode.notFound: break
      default: Issue.record(error)
      }
      if case FirestoreErrorCode.notFound = error {} else { Issue.record(error) }
      #expect((error as? FirestoreErrorCode)?.code == .notFound)
    }
    do { try fail() } catch let error as FirestoreErrorCode where error.code == .notFound {
      switch error.code {
      case .notFound: #expect(error.localizedDescription == "No document to update: a/b")
      default: Issue.record(error)
      }
    } catch { Issue.record(error) }
  }

  @Test func `as an NSError it has domain, code and text`() throws {
    do { try fail() } catch {
      let error = error as NSError
      #expect(error.domain == FirestoreErrorDomain)
      #expect(error.code == FirestoreErrorCode.notFound.rawValue)
      #expect(error.localizedDescription == "No document to update: a/b")
      #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == "No document to update: a/b")
      switch FirestoreErrorCode.Code(rawValue: error.code) {
      case .notFound?: break
      default: Issue.record(error)
      }
      let again = FirestoreErrorCode(_nsError: error)
      #expect(again == FirestoreErrorCode(.notFound, "No document to update: a/b"))
      #expect(again._nsError.code == 5)
    }
  }

  @Test func `an error is made of a code and a dictionary`() {
    let error = FirestoreErrorCode(.unavailable, userInfo: [NSLocalizedDescriptionKey: "offline"])
    #expect(error.localizedDescription == "offline")
    #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == "offline")
    #expect(FirestoreErrorCode(_nsError: NSError(domain: FirestoreErrorDomain, code: 99)).code == .unknown)
    #expect(FirestoreErrorCode.errorDomain == "FIRFirestoreErrorDomain")
    #expect((error as any Error)._code == 14)
  }
}
