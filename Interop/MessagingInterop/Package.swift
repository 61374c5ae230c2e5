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
  name: "MessagingInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "MessagingInterop", targets: ["MessagingInterop"]),
    .library(name: "MessagingInteropContracts", targets: ["MessagingInteropContracts"]),
    .library(name: "MessagingInteropFakes", targets: ["MessagingInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop"),
    .package(path: "../ListenerInterop"),
  ],
  targets: [
    .target(
      name: "MessagingInterop",
      dependencies: [.product(name: "ListenerInterop", package: "ListenerInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "MessagingInteropContracts",
      dependencies: [
        "MessagingInterop",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "MessagingInteropFakes",
      dependencies: [
        "MessagingInterop",
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropFakes", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "MessagingInteropTests",
      dependencies: [
        "MessagingInterop", "MessagingInteropContracts", "MessagingInteropFakes",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "ListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
