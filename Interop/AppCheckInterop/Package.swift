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
    .library(name: "VestaAppCheckInterop", targets: ["VestaAppCheckInterop"]),
    .library(name: "VestaAppCheckInteropContracts", targets: ["VestaAppCheckInteropContracts"]),
    .library(name: "VestaAppCheckInteropFakes", targets: ["VestaAppCheckInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop"),
    .package(path: "../ListenerInterop"),
  ],
  targets: [
    .target(
      name: "VestaAppCheckInterop",
      dependencies: [.product(name: "VestaListenerInterop", package: "ListenerInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckInteropContracts",
      dependencies: [
        "VestaAppCheckInterop",
        .product(name: "VestaContractInterop", package: "ContractInterop"),
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckInteropFakes",
      dependencies: [
        "VestaAppCheckInterop",
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropFakes", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAppCheckInteropTests",
      dependencies: [
        "VestaAppCheckInterop", "VestaAppCheckInteropContracts", "VestaAppCheckInteropFakes",
        .product(name: "VestaContractInterop", package: "ContractInterop"),
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
