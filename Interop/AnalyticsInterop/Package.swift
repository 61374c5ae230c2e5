// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "AnalyticsInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "AnalyticsInterop", targets: ["AnalyticsInterop"]),
    .library(name: "AnalyticsInteropContracts", targets: ["AnalyticsInteropContracts"]),
    .library(name: "AnalyticsInteropFakes", targets: ["AnalyticsInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop"),
    .package(path: "../ListenerInterop"),
  ],
  targets: [
    .target(
      name: "AnalyticsInterop",
      dependencies: [.product(name: "ListenerInterop", package: "ListenerInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "AnalyticsInteropContracts",
      dependencies: [
        "AnalyticsInterop",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "AnalyticsInteropFakes",
      dependencies: [
        "AnalyticsInterop",
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropFakes", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "AnalyticsInteropTests",
      dependencies: [
        "AnalyticsInterop", "AnalyticsInteropContracts", "AnalyticsInteropFakes",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
