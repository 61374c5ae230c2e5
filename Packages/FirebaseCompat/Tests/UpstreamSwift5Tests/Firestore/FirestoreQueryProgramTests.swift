import FirebaseCore
import FirebaseFirestore
import Foundation
import Testing

@Suite(.serialized) struct FirestoreQueryProgramTests {
  private func restaurant(
    _ name: String, _ category: String, price: Int, rating: Double, _ tags: [String] = []
  ) -> Restaurant {
    Restaurant(
      name: name, category: category, location: GeoPoint(latitude: 1.5, longitude: 2), opened: Date(), price: price,
      rating: rating, tags: tags, owner: nil)
  }

  @Test func `a program with every kind of query runs as it is`() async throws {
    try await withApp("queries") { app in
      let book = RestaurantBook(db: Firestore.firestore(app: app))
      let all = [
        restaurant("Ando", "Sushi", price: 3, rating: 4.5), restaurant("Bento", "Ramen", price: 1, rating: 3.5),
        restaurant("Caffè", "Pizza", price: 2, rating: 4, ["terrace"]),
        restaurant("Duomo", "Pizza", price: 5, rating: 3, ["terrace", "vegan"]),
      ]
      #expect(await answer { book.seed(all, $0) } == nil)
      let (first, rest) = await answer { done in book.page { done(($0, $1)) } }
      #expect(first == ["Ando", "Caffè"] && rest == ["Bento", "Duomo"])
      let found1 = try await book.between(3.5, 4.5)
      #expect(found1 == ["Bento", "Caffè", "Caffè"])
      #expect(await answer { book.filtered($0) } == ["Ando", "Bento", "Caffè"])
      let found2 = try await book.simple()
      #expect(found2 == [3, 2, 2, 1, 2])
      let path = try await book.review("Bento", by: "Ada", 5)
      #expect(path.hasPrefix("restaurants/Bento/reviews/"))
      #expect(await answer { book.reviews(by: "Ada", $0) } == 1)
      let (sum, average) = await answer { done in book.aggregates { done(($0, $1)) } }
      #expect(sum == 11 && average == 2.75)
      let streamed = try await book.stream()
      #expect(Set(streamed) == ["Ando", "Bento", "Caffè", "Duomo"])
      let found3 = try await book.values("Caffè")
      #expect(found3 == ["[]", "3", "true", "1.5", "[1.0, 2.0]", "5", "deep", "true"])
      let merged = try await book.merged()
      #expect(merged?["a"] as? Int == 9 && merged?["b"] as? Int == 2)
      #expect(merged?["nested"] as? [String: Int] == ["x": 3, "y": 2])
      let (isPending, isSent) = await answer { done in book.offline { done(($0, $1)) } }
      #expect(isPending && isSent)
      let failures = await book.failures()
      // Without a network between client and engine the cache knows what is absent, where the SDK's is unavailable.
      #expect(failures == ["not found", "not decoded", "absent"])
    }
  }

  @Test func `a listener with metadata sees a write as local, then as the server's`() async throws {
    try await withApp("metadata") { app in
      let book = RestaurantBook(db: Firestore.firestore(app: app))
      let (seen, continuation) = AsyncStream.makeStream(of: String.self)
      book.watch("Ando") { source, exists in if exists { continuation.yield(source) } }
      var iterator = seen.makeAsyncIterator()
      try await book.restaurants.document("Ando").setData(["price": 1])
      #expect(await iterator.next() == "Local")
      // Other changes of the metadata are events too.
      var source = "Local"
      while source == "Local", let next = await iterator.next() { source = next }
      #expect(source == "Server")
      book.stop()
      continuation.finish()
    }
  }
}
