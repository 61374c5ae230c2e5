import Checks
import Testing

@Test func anEmptyTreeBreaksNothing() { #expect(check(Tree([:])).isEmpty) }
