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
  name: "Firestore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "FirestoreReference", targets: ["FirestoreReference"]),
    .library(name: "VestaFirestoreService", targets: ["VestaFirestoreService"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/FirestoreInterop"),
    .package(path: "../../Interop/ListenerInterop"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .target(
      name: "FirestoreModel",
      dependencies: [.product(name: "FirestoreInterop", package: "FirestoreInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "FirestoreReference",
      dependencies: [
        "FirestoreModel",
        .product(name: "FirestoreInterop", package: "FirestoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreService",
      dependencies: [
        "FirestoreModel",
        .product(name: "CryptoInterop", package: "CryptoInterop"),
        .product(name: "FirestoreInterop", package: "FirestoreInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "StoreInterop", package: "StoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreServiceTests",
      dependencies: [
        "FirestoreModel", "FirestoreReference", "VestaFirestoreService",
        .product(name: "FirestoreInterop", package: "FirestoreInterop"),
        .product(name: "StoreInterop", package: "StoreInterop"),
        .product(name: "StoreInteropContracts", package: "StoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FirestoreModelTests",
      dependencies: [
        "FirestoreModel", "FirestoreReference",
        .product(name: "FirestoreInterop", package: "FirestoreInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
