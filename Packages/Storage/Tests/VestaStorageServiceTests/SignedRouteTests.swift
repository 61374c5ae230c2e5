import Testing
import VestaStorageEndpoints
import VestaTransportInterop

@Suite struct SignedRouteTests {
  @Test(arguments: [
    ("/bucket/a?GoogleAccessId=a&Expires=100&Signature=b%2B", true), ("/bucket/a?alt=media&token=x", false),
    ("/bucket/a", false), ("/v0/b/bucket/o/a", true),
  ])
  func `a path that others could serve is the service's when it is signed`(target: String, isServed: Bool) {
    let head = HTTPRequestHead(method: .get, target: target, fields: [:])
    #expect(StorageEndpoints().serves(head) == isServed)
  }
}
