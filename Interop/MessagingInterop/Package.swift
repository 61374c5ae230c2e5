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
    .library(name: "VestaMessagingInterop", targets: ["VestaMessagingInterop"]),
    .library(name: "VestaMessagingInteropContracts", targets: ["VestaMessagingInteropContracts"]),
    .library(name: "VestaMessagingInteropFakes", targets: ["VestaMessagingInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop"),
    .package(path: "../ListenerInterop"),
  ],
  targets: [
    .target(
      name: "VestaMessagingInterop",
      dependencies: [.product(name: "VestaListenerInterop", package: "ListenerInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingInteropContracts",
      dependencies: [
        "VestaMessagingInterop",
        .product(name: "VestaContractInterop", package: "ContractInterop"),
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingInteropFakes",
      dependencies: [
        "VestaMessagingInterop",
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropFakes", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaMessagingInteropTests",
      dependencies: [
        "VestaMessagingInterop", "VestaMessagingInteropContracts", "VestaMessagingInteropFakes",
        .product(name: "VestaContractInterop", package: "ContractInterop"),
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
