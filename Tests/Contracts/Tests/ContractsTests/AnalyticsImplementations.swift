import Testing
import VestaAnalyticsInterop
import VestaAnalyticsInteropContracts
import VestaAnalyticsInteropFakes

@Suite struct AnalyticsImplementations {
  static let all: [Implementation<AnalyticsInteropSubject>] = [
    Implementation("FakeAnalytics") { AnalyticsInteropSubject(FakeAnalytics()) }
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(
    _ implementation: Implementation<AnalyticsInteropSubject>
  ) async {
    await implementation.keeps(AnalyticsInteropContracts.all)
  }
}
