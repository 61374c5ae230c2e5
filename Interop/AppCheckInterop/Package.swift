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
  name: "AppCheckInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "AppCheckInterop", targets: ["AppCheckInterop"]),
    .library(name: "AppCheckInteropContracts", targets: ["AppCheckInteropContracts"]),
    .library(name: "AppCheckInteropFakes", targets: ["AppCheckInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop"),
    .package(path: "../ListenerInterop"),
  ],
  targets: [
    .target(
      name: "AppCheckInterop",
      dependencies: [.product(name: "ListenerInterop", package: "ListenerInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "AppCheckInteropContracts",
      dependencies: [
        "AppCheckInterop",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "AppCheckInteropFakes",
      dependencies: [
        "AppCheckInterop",
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropFakes", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "AppCheckInteropTests",
      dependencies: [
        "AppCheckInterop", "AppCheckInteropContracts", "AppCheckInteropFakes",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
