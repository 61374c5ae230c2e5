import Testing
import VestaDatabaseBackend
import VestaDatabaseModel

@testable import VestaDatabase

/// The data that a transaction's block is called with.
@Suite struct MutableDataTests {
  @Test func `a value and an empty place have no children`() {
    let data = MutableData(DatabaseNode(children: [("a", DatabaseNode(.int(1)))]), at: "p")
    #expect(data.hasChildren() && data.childrenCount == 1)
    #expect(data.hasChild(atPath: "a") && !data.hasChild(atPath: "b"))
    for key in ["a", "b"] {
      let child = data.childData(byAppendingPath: key)
      #expect(!child.hasChildren() && child.childrenCount == 0 && child.key == key)
    }
    data.childData(byAppendingPath: "b").value = ["c": 2]
    #expect(data.childrenCount == 2 && data.childData(byAppendingPath: "b").hasChildren())
  }
}
