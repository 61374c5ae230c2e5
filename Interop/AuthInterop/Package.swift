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
  name: "AuthInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "AuthInterop", targets: ["AuthInterop"]),
    .library(name: "AuthInteropContracts", targets: ["AuthInteropContracts"]),
    .library(name: "AuthInteropFakes", targets: ["AuthInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop"),
    .package(path: "../ListenerInterop"),
  ],
  targets: [
    .target(
      name: "AuthInterop",
      dependencies: [.product(name: "ListenerInterop", package: "ListenerInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "AuthInteropContracts",
      dependencies: [
        "AuthInterop",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "AuthInteropFakes",
      dependencies: [
        "AuthInterop",
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropFakes", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "AuthInteropTests",
      dependencies: [
        "AuthInterop", "AuthInteropContracts", "AuthInteropFakes",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
