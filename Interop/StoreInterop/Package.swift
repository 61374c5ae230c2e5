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
  name: "StoreInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "StoreInterop", targets: ["StoreInterop"]),
    .library(name: "StoreInteropContracts", targets: ["StoreInteropContracts"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop"),
    .package(path: "../ListenerInterop"),
  ],
  targets: [
    .target(
      name: "StoreInterop",
      dependencies: [.product(name: "ListenerInterop", package: "ListenerInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "StoreInteropContracts",
      dependencies: [
        "StoreInterop",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "StoreInteropTests",
      dependencies: [
        "StoreInterop", "StoreInteropContracts",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
