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
  name: "ListenerInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "ListenerInterop", targets: ["ListenerInterop"]),
    .library(name: "ListenerInteropContracts", targets: ["ListenerInteropContracts"]),
    .library(name: "ListenerInteropFakes", targets: ["ListenerInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop")
  ],
  targets: [
    .target(name: "ListenerInterop", swiftSettings: settings),
    .target(
      name: "ListenerInteropContracts",
      dependencies: ["ListenerInterop", .product(name: "ContractInterop", package: "ContractInterop")],
      swiftSettings: settings
    ),
    .target(name: "ListenerInteropFakes", dependencies: ["ListenerInterop"], swiftSettings: settings),
    .testTarget(
      name: "ListenerInteropTests",
      dependencies: [
        "ListenerInterop", "ListenerInteropContracts", "ListenerInteropFakes",
        .product(name: "ContractInterop", package: "ContractInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
